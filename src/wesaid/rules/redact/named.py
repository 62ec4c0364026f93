r"""Rows for values that are secrets because of the name beside them: assignments, flags, fields of headers, cards, links.

The value decides as well: a quoted one and one right after ``=`` is always hidden, one after ``:`` needs evidence (``shapes.assignment``).
"""

from __future__ import annotations

from typing import Final

from wesaid.rules.redact.shapes import (
    BARE,
    EVIDENCE,
    EXAMPLE_26,
    EXAMPLE_HEX_32,
    HOLLOW,
    NO_FILE,
    NO_NUMBER,
    NO_TYPE,
    NOT_A_VALUE,
    Rule,
    assignment,
    either,
    quoted,
)

_B: Final = EXAMPLE_26
_HEX_64: Final = EXAMPLE_HEX_32 * 2
_B40: Final = "wJalrXUtnFEMIzK7MDENGzbPxRfiCYEXAMPLEKEY"
_B88: Final = f"{_B}{_B}{_B}01234567=="
_PASSWORDS: Final = ("password", "passwd", "passphrase", "passcode", "pwd")
_SECRETS: Final = ("secret", "private_key", "privatekey", "private-key", "credential")
_KEYS: Final = ("api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "secret_key", "secret-key", "secretkey",
                "api key", "access key", "secret key", "auth_key", "authkey", "signing_key", "encryption_key", "master_key", "service_key", "license_key")  # fmt: skip
_FLAGS: Final = ("--token", "--password", "--passwd", "--passphrase", "--secret", "--api-key", "--apikey", "--access-token", "--auth-token",
                 "--access-key", "--secret-key", "--client-secret", "--private-key", "--http-password", "--proxy-password")  # fmt: skip
_CARDS: Final = (
    "card_number",
    "cardnumber",
    "card-number",
    "card number",
    "security_code",
    "securitycode",
    "security code",
    "cvv2",
    "cvv",
    "cvc",
)
_LINKED: Final = ("key", "sig", "signature", "code", "session", "auth", "sid", "jwt", "otp", "ticket", "x-amz-signature", "x-amz-credential",
                  "x-amz-security-token", "x-goog-signature", "x-goog-credential")  # fmt: skip

_STREET: Final = r" [A-Z][a-z]{1,20} (?:St|Ave|Rd|Ln|Dr|Blvd|Street|Avenue|Road|Lane|Drive)(?![a-z])"

NAMED: Final[tuple[Rule, ...]] = (
    Rule(
        kind="aws-secret",
        anchors=("secret_access_key", "secretaccesskey", "secret access key", "aws_secret", "aws secret"),
        pattern=r"(?i:secret_access_key|secretaccesskey|secret access key|aws[_ ]secret(?:_key| key|_access_key)?)"
        r"[^A-Za-z0-9/+\r\n]{1,20}+(?:is )?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        examples=((f"aws_secret_access_key = {_B40}", _B40), (f"AWS secret: {_B40}", _B40), (f'"SecretAccessKey": "{_B40}"', _B40)),
        not_examples=("the aws_secret_access_key is read from the environment",),
    ),
    Rule(
        kind="azure-key",
        anchors=("accountkey", "sharedaccesskey", "sharedaccesssignature"),
        pattern=r"(?i:accountkey|sharedaccesskey|sharedaccesssignature)[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?"
        r"([A-Za-z0-9+/%]{32,}+={0,2}|sr=[^\s\"';]{20,1024}+)",
        examples=((f"AccountName=ferry;AccountKey={_B88};EndpointSuffix=core.example", _B88), (f"SharedAccessKey={_B}{_B}=", f"{_B}{_B}=")),
        not_examples=("AccountKey=<your key>", "set SharedAccessKeyName=RootManageSharedAccessKey"),
    ),
    Rule(
        kind="password",
        anchors=_PASSWORDS,
        pattern=assignment(_PASSWORDS, spaces=True),
        examples=(
            ("password=tidetable", "tidetable"),
            ("DB_PASSWORD: t1detable", "t1detable"),
            ('"password": "tide table nine"', "tide table nine"),
            (r"{\"passwd\": \"tide-table\"}", "tide-table"),
            ("**Password:** t1de!table", "t1de!table"),
            ("password=ab;cd3efgh", "ab;cd3efgh"),
            ("password: buFx!mknKzL3", "buFx!mknKzL3"),
            ("password: Pass&word1.", "Pass&word1"),
            ("<password>tidetable</password>", "tidetable"),
            ("password: “tide table”", "tide table"),
            ("password＝tidetable", "tidetable"),
            ("password -> t1detable", "t1detable"),
            ("pwd = 'it\\'s high tide'", "it\\'s high tide"),
        ),
        not_examples=(
            "password: resetting flow docs",
            "PASSWORD:banana-example",
            "password = get_password(user)",
            "PWD=/home/ferry",
            "self.password = password",
            "password = parsed.password",
            "password=password",
            "passphrase=passphrase)",
            "password=<your password>",
        ),
    ),
    Rule(
        kind="api-key",
        anchors=_KEYS,
        pattern=assignment(_KEYS, spaces=False),
        examples=(
            (f"x-api-key: {_B}", _B),
            (f'"apiKey": "{_B}"', _B),
            (f"?api_key={_B}&page=2", _B),
            ("access_key=abcdefgh", "abcdefgh"),
            ("api key: t1detable", "t1detable"),
        ),
        not_examples=(
            "aws_secret_access_key=aws_secret_access_key",
            "api key: ask the team",
            "apiKey: process.env.API_KEY",
            "api_key=${API_KEY}",
            "const apiKey = parsed.apiKey || given;",
        ),
    ),
    Rule(
        kind="secret",
        anchors=_SECRETS,
        pattern=assignment(_SECRETS, spaces=False),
        examples=tuple((f"{name}{value}", value) for name, value in (("client_secret=", "abcdefgh"), ("db.secret = ", "harb0ur-light"))),
        not_examples=(
            "the secret: never merge on Friday",
            "secret: GitHub Actions has them",
            "secrets: see the vault",
            "secret: SecretKeyRef",
            "private_key: path/to/key1.pem",
        ),
    ),
    Rule(
        kind="token",
        anchors=("token",),
        pattern=assignment(("token",), spaces=False),
        examples=((f"FOO_TOKEN={_B}", _B), (f"accessToken: '{_B}'", _B), (f"export TOKEN_2={_B}", _B), (f"X-Ferry-Token: {_B}", _B)),
        not_examples=(
            "see the token bucket",
            "max_tokens=4096",
            "token=4096",
            "token: string",
            "if token == other:",
            "token := next()",
            "token: AccessTokenDto",
            "token -> parser2 -> tree",
            "next_token=next_token",
            "f(token=token, page=2)",
        ),
    ),
    Rule(
        kind="named-key",
        anchors=("_key=", "_key:", "_key =", '_key"', "_auth=", "_auth:", '"auth"'),
        # Names of databases and caches end in _key too: only capitals, as variables of the environment have, and only random values.
        pattern=r"(?:(?<=[A-Z0-9])(?<!CACHE)(?<!SORT)(?<!FOREIGN)(?<!PRIMARY)(?<!PARTITION)(?<!PUBLIC)(?<!UNIQUE)(?<!ROUTING)(?<!GROUP)_KEY|_auth|\"auth)\"?[ \t]{0,4}[=:][ \t]{0,4}[\"']?(?=[A-Za-z+/_=-]{0,40}+[0-9])([A-Za-z0-9+/_=-]{20,}+)(?![:.(])",
        examples=((f"FERRY_KEY={_B}", _B), (f'"auth": "{_B}=="', f"{_B}=="), (f"//registry.example/:_auth={_B}", _B)),
        not_examples=(
            "PRIMARY_KEY=id",
            "CACHE_KEY=v2-node-modules-linux-x64-2024",
            "FOREIGN_KEY=fk-orders-customers-2024-id",
            "CACHE_KEY=user:12:profile-page-of-the-user",
            "primary_key: 0123456789abcdef0123",
            "PUBLIC_KEY=none",
        ),
    ),
    Rule(
        kind="hex-key",
        anchors=("key", "seed", "secret"),
        pattern=r"(?i:(?<!public[ _-])(?<!public)(?<!cache[ _-])(?<!cache)(?<!primary[ _-])(?<!foreign[ _-])(?<!object[ _-])(?<!sort[ _-])(?:key|seed|secret))(?i: \(?hex\)?| is|_hex|)[\"'`]?[ \t]{0,4}(?:[:=]|[ \t])[ \t]{0,4}[\"'`]?(?:0x)?([0-9a-fA-F]{64})(?![0-9A-Za-z])",
        examples=tuple((f"{name}{_HEX_64}", _HEX_64) for name in ("private key: 0x", "the wallet key is ", "SEED=")),
        not_examples=(
            f"sha256 of the key file: {_HEX_64}",
            f"digest: {_HEX_64}",
            f"cache key {_HEX_64}",
            f"public key: {_HEX_64}",
            f"key {EXAMPLE_HEX_32}",
        ),
    ),
    Rule(
        kind="card",
        anchors=_CARDS,
        pattern=rf"(?<![A-Za-z]){either(_CARDS)}(?:\\{{0,7}}[\"'])?[ \t]{{0,4}}[:=][ \t]{{0,4}}\\{{0,7}}[\"']?([0-9](?:[ -]?[0-9]){{2,18}})(?![0-9A-Za-z]|\.[0-9]|{_STREET})",
        examples=(("card_number: 4000 0000 0000 0002", "4000 0000 0000 0002"), ('"cvv": "017"', "017"), ("security_code=0170.", "0170")),
        not_examples=("CVC: 123 Main St", "cvc: see the back of the card", "the cvv is three digits", "card number: twelve"),
    ),
    Rule(
        kind="flag",
        anchors=_FLAGS,
        pattern=rf"{either(_FLAGS)}[ \t]{{1,4}}(?:\"{HOLLOW}([^\"\\\r\n]{{6,1024}}+)\"|'{HOLLOW}([^'\\\r\n]{{6,1024}}+)'"
        rf"|(?!-){NOT_A_VALUE}{EVIDENCE}({BARE}{{6,}}+))",
        examples=((f"wesaid serve --token {_B}", _B), ("psql --password 'tide table'", "tide table")),
        not_examples=("--password from the keychain", "--token $TOKEN", "--token --verbose2"),
    ),
    Rule(
        kind="user-flag",
        anchors=("-u ", "-u'", '-u"', "--user ", "--user=", "--proxy-user ", "-p "),
        pattern=rf"(?:(?<![\w-])(?<!ps )-u[ \t]{{0,4}}|--(?:proxy-)?user[ =])[\"']?[A-Za-z0-9_.@%+-]{{1,128}}+:(?![0-9]{{1,10}}(?!\w)|(?:wheel|staff|users|nogroup|www-data)(?!\S)){NOT_A_VALUE}([^\s\"'`\\]{{5,256}}+)"
        r"|(?<=sshpass )-p[ \t]{1,4}[\"']?([^\s\"'`\\$]{5,256}+)",
        examples=(
            ("curl -u ferry:tide-table https://x.example", "tide-table"),
            ("curl --user 'ferry:t1detable'", "t1detable"),
            ("sshpass -p tidetable ssh ferry@x.example", "tidetable"),
        ),
        not_examples=(
            "docker run -u 1000:1000 image",
            "ps -u root:wheel1",
            "install -u root:wheel x",
            "curl -u ferry:$PASS https://x.example",
            "sort -u names.txt",
            "mkdir -p build/output",
        ),
    ),
    Rule(
        kind="command-password",
        anchors=("mysql", "mariadb ", "docker login ", "redis-cli "),
        pattern=r"(?:(?:mysql(?:dump|admin)?|mariadb)[ \t]+?(?:[^\s|;&]{1,64}+[ \t]{1,4}){0,8}?-p(?![$<{])|(?:docker login[ \t]|(redis-cli)[ \t])"
        r"(?:[^\s|;&]{1,64}+[ \t]{1,4}){0,8}?(?(1)(?:-a|--pass)|-p)[ \t]{1,4}(?![-$<{]))[\"']?([^\s\"'`|;&]{5,256}+)",
        examples=(
            ("mysql -u ferry -ptidetable harbour", "tidetable"),
            ("docker login -u ferry -p tidetable registry.example", "tidetable"),
            ("redis-cli -h x.example -a tidetable ping", "tidetable"),
        ),
        not_examples=("mysql -u ferry -p harbour", "docker login -p $PASS", "mysql --port=33060 --protocol=tcp", "redis-cli -p 637900"),
    ),
    Rule(
        kind="short-name",
        anchors=("pass:", "pass=", 'pass"', "pass =", "pw:", "pw=", 'pw"', "psk:", "psk=", "otp:", "otp=", 'otp"'),
        # PASS: is also what test runners print; a number is a count, except that of an OTP.
        pattern=rf"(?<![A-Za-z0-9])(?:(?:pass|pw|(?<=_)PASS|PASS(?=[\"=])|Pass|PW|psk|PSK)(?=[\"' ]{{0,2}}[:=][ \t\"']{{0,4}}+{NO_NUMBER})|(?i:otp)(?=[:=\"]))"
        rf"[\"']?[ \t]?[:=][ \t]{{0,4}}[\"']?{NOT_A_VALUE}{NO_FILE}{NO_TYPE}{EVIDENCE}({BARE}{{6,}}+)",
        examples=(
            ("DB_PASS=t1detable", "t1detable"),
            ("pass: t1detable", "t1detable"),
            ("pw: t1detable", "t1detable"),
            ("psk=t1detable", "t1detable"),
            ("otp: 017017", "017017"),
        ),
        not_examples=("PASS: test_ferry_1", "bypass=t1detable", "pass: 1234567", "pass: see the vault", "pass: tests/ferry1.test.ts"),
    ),
    Rule(
        kind="link-parameter",
        anchors=tuple(f"{mark}{name}=" for name in _LINKED for mark in "?&"),
        pattern=rf"[?&]{either(_LINKED)}=(?=[A-Za-z_%.~+/-]{{0,48}}+[0-9])(?![0-9a-f]{{8}}-[0-9a-f]{{4}}-)([A-Za-z0-9_%.~+/=-]{{16,}}+)(?!:)",
        examples=(
            (f"https://x.example/cb?state=a&code=4/0A{_B}", f"4/0A{_B}"),
            (f"https://x.example/blob?sv=2026&sig={_B}%3D", f"{_B}%3D"),
            (f"https://b.example/o?X-Amz-Signature={EXAMPLE_HEX_32}", EXAMPLE_HEX_32),
        ),
        not_examples=(
            "https://x.example/?code=200&session=agent:main:main",
            "https://x.example/?key=name&auth=basic",
            "https://x.example/?session=00000000-0000-4000-8000-000000001002",
        ),
    ),
    Rule(
        kind="netrc-password",
        anchors=("login ",),
        pattern=r"(?i:login)[ \t]{1,4}(?!with |and |or |needs |by |is |via |without )[^\s]{1,128}+[ \t]{1,4}(?i:password)[ \t]{1,4}(?![{<$\[])([^\s]{5,256}+)",
        examples=(("machine x.example login ferry password tidetable", "tidetable"),),
        not_examples=("login with password resets it", "the login needs a password today"),
    ),
    Rule(
        kind="quoted-secret",
        anchors=(
            "contraseña",
            "mật khẩu",
            "mot de passe",
            "passwort",
            "kennwort",
            "senha",
            "пароль",
            "密码",
            "密碼",
            "パスワード",
            "비밀번호",
        ),
        pattern=r"(?i:contraseña|mật khẩu|mot de passe|passwort|kennwort|senha|пароль|密码|密碼|パスワード|비밀번호)"
        r"(?:[ \t]{0,2}(?:[:=：＝]|là|es|est|ist|lautet|é|is|是|为|為|は|는|은))[ \t]{0,2}(?:"
        + quoted(spaces=True)
        + r"|[「『“«]([^\s」』”»]{6,128}+)|(?![~./]|https?:)(?=[A-Za-z]{0,64}+[0-9!@#$%^&*_+=-])(?=[^\s]{0,64}?[A-Za-z])([!-~]{6,128}+))",
        examples=(("mật khẩu là t1detable", "t1detable"), ("密码是t1de!table", "t1de!table"), ("Passwort: t1detable", "t1detable")),
        not_examples=(
            "mật khẩu đổi lúc 9 giờ",
            "密码已经改了",
            "パスワードは8文字以上",
            "Passwort: siehe Tresor",
            "le mot de passe est obligatoire",
        ),
    ),
)
