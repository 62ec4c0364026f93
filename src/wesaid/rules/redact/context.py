r"""Rows for secrets that a frame or a sentence gives away: private keys, headers, addresses with a password, prose, seed phrases."""

from __future__ import annotations

from typing import Final

from wesaid.rules.redact.shapes import BARE, EVIDENCE, EXAMPLE_26, EXAMPLE_HEX_32, NO_FILE, NO_TYPE, NOT_A_VALUE, Rule, either

_B: Final = EXAMPLE_26
_PEM: Final = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:\s|\\[nr])*+(?:(?:Proc-Type|DEK-Info|Version|Comment):[^\r\n\\]{0,200}+(?:\s|\\[nr])*+){0,4}+"
    # Ended: up to the next dashes. Cut off: as long as it looks like base64, and a last short line that no word is.
    r"(?:[^-]++-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:[A-Za-z0-9+/=]{16,}+(?:[\s\"',+|>]|\\[nr])*+)++(?:(?=[A-Za-z]{0,15}+[0-9+/=])[A-Za-z0-9+/]{1,15}+={0,2})?)"
)
_BODY: Final = (
    "MIIEpAIBAAKCAQEAr3y9Zw0dQmTtq2Jw1VxVb7c1mPqGZ8K4nB5sD6fH7jL8kQ1w\nE2rT3yU4iO5pA6sD7fG8hJ9kL0zX1cV2bN3mQ4wE5rT6yU7iO8pA9sD0fG1hJ2kL="
)

# "password is …": what a value may not be in prose. Dates, sizes and names of algorithms have digits too.
_PROSE_NAMES: Final = ("password", "passphrase", "passcode", "passwd", "api key", "secret key", "secret", "token")
_PROSE_NOT: Final = (
    r"(?![0-9]{1,4}[-/.:][0-9]{1,2}[-/.:][0-9]|[$€£]?[0-9]{1,3}(?:,[0-9]{3}){1,4}(?!\w)|v?[0-9]{1,4}(?:\.[0-9]{1,4}){1,4}(?![\w])|[0-9]{1,9}(?:px|ms|kb|mb|gb|th|st|nd|rd|x)(?!\w)"
    r"|(?i:base-?(?:32|58|64)|sha-?[0-9]|md5|utf-?8|bcrypt|argon2|pbkdf2|scrypt|aes|rsa|hs256|rs256|oauth2?|x509|ed25519)(?![A-Za-z0-9]{6}))"
)
_PROSE_EVIDENCE: Final = rf"(?:{EVIDENCE}|(?=[A-Za-z]{{1,64}}+[&*][A-Za-z0-9]))"
# Words that no BIP-39 list has, and no English sentence of twelve words goes without.
_NO_SEED: Final = r"(?!(?:the|and|for|are|was|were|not|your|with|from|have|has|must|never|should|them|which|who|but|our|their)(?![a-z]))"
_SEED_WORD: Final = rf"(?:[0-9]{{1,2}}[.)] ?)?{_NO_SEED}[a-z]{{3,8}}(?![A-Za-z])"
_SEED_NAMES: Final = (
    "seed_phrase",
    "seedphrase",
    "recovery_phrase",
    "recoveryphrase",
    "seed phrase",
    "recovery phrase",
    "backup phrase",
    "secret phrase",
    "wallet phrase",
    "mnemonic",
    "seed words",
    "recovery words",
)
_SEED_WORDS: Final = "ferry tide amber canoe meadow lunar violin orbit maple cobalt raven quartz"

CONTEXT_FIRST: Final[tuple[Rule, ...]] = (
    Rule(
        kind="private-key",
        anchors=("-----begin ",),
        pattern=_PEM,
        examples=(
            (f"-----BEGIN RSA PRIVATE KEY-----\n{_BODY}\n-----END RSA PRIVATE KEY-----", _BODY),
            (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{_BODY}", _BODY),
            (f"-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\n{_BODY}", _BODY),
        ),
        not_examples=("the line -----BEGIN RSA PRIVATE KEY----- opens a key", "-----BEGIN CERTIFICATE-----\n" + _BODY),
    ),
    Rule(
        kind="putty-key",
        anchors=("private-lines:",),
        pattern=r"(?i:private-lines:)[ \t]{0,4}[0-9]{1,4}\s++((?:[A-Za-z0-9+/=]{16,}+(?:\s|\\[nr])*+)++)",
        examples=((f"Private-Lines: 2\n{_BODY}\n", _BODY),),
        not_examples=("Private-Lines: 8 of them are read",),
    ),
)

CONTEXT: Final[tuple[Rule, ...]] = (
    Rule(
        kind="cookie",
        anchors=("cookie:", 'cookie":', "cookie':", "--cookie ", "--cookie="),
        pattern=r"(?i:cookie)[\"']?[ \t]{0,4}[:= ][ \t]{0,4}[\"']?(?!\$)([A-Za-z0-9_.$%-]{1,128}+=(?![\s;\"'<{$])[^\r\n\"'\\]{4,4096}+)",
        examples=(
            ("Cookie: sid=abcdef012345; theme=dark", "sid=abcdef012345; theme=dark"),
            (f"Set-Cookie: session={_B}", f"session={_B}"),
            (f"curl -H 'Cookie: a={_B}' x.example", f"a={_B}"),
        ),
        not_examples=("Cookie: a small biscuit", "the cookie: keep it short", "Cookie: session=<your session>"),
    ),
    Rule(
        kind="authorization",
        anchors=("authorization",),
        pattern=(
            r"(?i:authorization)\\{0,7}[\"'`]?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}[\"'`]?"
            rf"(?:(?i:bearer|basic|bot|token|apikey|negotiate|ntlm)[ \t]{{1,4}}{NOT_A_VALUE}{EVIDENCE}({BARE}{{6,}}+)"
            rf"|(?i:digest)[ \t]{{1,4}}([^\r\n]{{16,2048}}+)|{NOT_A_VALUE}(?=[A-Za-z_-]{{0,64}}+[0-9])([A-Za-z0-9._~+/=-]{{16,}}+))"
        ),
        examples=(
            ("Authorization: Basic dXNlcjpwYXNzMTIz", "dXNlcjpwYXNzMTIz"),
            (f'-H "Authorization: Bearer {_B}"', _B),
            (f"Proxy-Authorization: {_B}", _B),
            (f'Authorization: Digest username="x", response="{EXAMPLE_HEX_32}"', f'username="x", response="{EXAMPLE_HEX_32}"'),
        ),
        not_examples=("Authorization: Bearer tokens are sent", "Authorization: Bearer $TOKEN", "authorization: basic access only"),
    ),
    Rule(
        kind="bearer",
        anchors=("bearer ", "bearer\t"),
        pattern=rf"(?i:bearer)[ \t]{{1,4}}{EVIDENCE}([A-Za-z0-9._~+/-]{{18,}}+=*+)",
        examples=((f"bearer {_B}", _B),),
        not_examples=("a bearer of misunderstandings", "bearer authentication-and-authorization"),
    ),
    Rule(
        kind="url-password",
        anchors=("://",),
        # The last @ before the path: a password may hold one. Neither class crosses a "/", so no character is read for two anchors.
        pattern=r"://(?:[^\s/?#@:\"'<>]{0,256}+:(?![$<{*])([^\s/?#\"'<>]{1,256})@|(?=[A-Za-z_-]{0,64}+[0-9])([A-Za-z0-9_-]{20,128}+)@)",
        examples=(
            ("postgres://ferry:tide@t4ble@db.example:5432/x", "tide@t4ble"),
            ("redis://:hunter2hunter2@cache.example", "hunter2hunter2"),
            (f"https://{_B}@git.example/x.git", _B),
        ),
        not_examples=("https://example.com:8080/a@b", "ssh://git@example.com/x", "postgres://user:$PASS@host/db"),
    ),
    Rule(
        kind="spoken-password",
        anchors=(*(f"{name} " for name in _PROSE_NAMES), "the password:", "my password:"),
        pattern=(
            rf"(?i:(?:the |my )?(?:({either(_PROSE_NAMES[:4])})|{either(_PROSE_NAMES[4:])}))"
            r"(?i::| (?:for|of|to) (?:[^\s:]{1,40}+ ){1,3}?(?:is|was)| (?:for|of|to) [^\s:]{1,40}+:| (?:is|was)(?: now| still| set to)?:?)[ \t]{1,2}"
            r"(?:\"([^\"\r\n]{6,128}+)\"|'([^'\r\n]{6,128}+)'|`([^`\r\n]{6,128}+)`|“([^”\r\n]{6,128}+)”"
            # Words written together may be a password, but a token or a secret that is so called is a type.
            rf"|{NOT_A_VALUE}{NO_FILE}{_PROSE_NOT}(?(1)|{NO_TYPE}){_PROSE_EVIDENCE}({BARE}{{6,}}+))"
        ),
        examples=(
            ("my password is hunter2hunter2.", "hunter2hunter2"),
            ("the password of the shared account is t1de-table", "t1de-table"),
            ("the wifi password is 'tide table nine'", "tide table nine"),
            ("the password for staging is t1de!table", "t1de!table"),
            (f"the API key is {_B}", _B),
        ),
        not_examples=(
            "the password is required",
            "the password is 8 characters long",
            "the password is base64-encoded",
            "the token is case-sensitive",
            "the secret is to stay calm",
            "the password is stored in 1Password",
            "the token was issued on 2026-03-01",
            "the password is get_password(user)",
            "the secret of success is simple",
            "the token is JavaScriptCore",
            "the password is required!",
        ),
    ),
    Rule(
        kind="seed-phrase",
        anchors=_SEED_NAMES,
        pattern=(
            rf"{either(_SEED_NAMES)}(?:_(?:phrase|words)| (?:is|was|words are|words|here))?[\"'`]?[ \t]{{0,4}}[:=-]?[\s\"'`“]*+"
            rf"({_SEED_WORD}(?:(?:,|\s)\s*+{_SEED_WORD}){{11,23}}+)"
        ),
        examples=(
            (f"my seed phrase is {_SEED_WORDS}", _SEED_WORDS),
            (f'{{"seed_phrase": "{_SEED_WORDS}"}}', _SEED_WORDS),
            (f"mnemonic: {_SEED_WORDS} {_SEED_WORDS}", f"{_SEED_WORDS} {_SEED_WORDS}"),
        ),
        not_examples=(
            "a recovery phrase is something that you should never share with anybody who asks for it in a chat",
            "mnemonic: the words are easy to say and hard to forget when you have them",
            _SEED_WORDS,
        ),
    ),
    Rule(
        kind="app-password",
        anchors=("app-specific password", "app specific password", "app password", "apple password"),
        pattern=r"(?i:app(?:le)?(?:[- ]specific)? password)[^\r\n]{0,3}?(?i: (?:is|for [^\s]{1,40}+)| )?[^A-Za-z0-9\r\n]{1,6}+([a-z]{4}(?:[- ][a-z]{4}){3})(?![A-Za-z-])",
        examples=(
            ("my app password is tide-ferr-yboa-tsea", "tide-ferr-yboa-tsea"),
            ("app-specific password: tide-ferr-yboa-tsea", "tide-ferr-yboa-tsea"),
        ),
        not_examples=("blue-bird-lake-road", "see the app password page near blue-bird-lake-road", "an app password has four groups"),
    ),
)
