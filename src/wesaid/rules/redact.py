r"""Secrets in a text: where they are, and the text without them.

A table of named shapes (``RULES``) and one loop over it; a new shape is a new row, never new code. Knows nothing of messages, sessions
or who reads: it takes the whole text of one message, because a cut text has lost the context that a shape needs.

Invariants:
- Linear. A rule's regex runs only where one of its literal anchors stands, and every quantifier is possessive or bounded, so that what
  fails, fails after a bounded number of steps (field report B86).
- Redacting twice changes nothing: placeholders split the text into pieces, each scanned as if it were alone, until no piece matches.
- Offsets are code points of the text given; spans are sorted and do not overlap.
- ``VERSION`` rises with every change of what is found: stored spans carry it and are renewed by it (contract.md §7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wesaid.values import Span

VERSION: Final = 1

_PLACEHOLDER: Final = re.compile(r"\[redacted:[a-z0-9-]{1,40}\]")
_SHORTEST: Final = 6  # a piece shorter than this holds no shape of the table
_ROUNDS: Final = 6  # real text needs two; a text made to need more loses the piece that still matches, whole

_NESTED_CODE_POINTS: Final = 128  # finds this short are searched again inside (password="password": …); longer ones would cost squares


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One shape.

    ``pattern`` is tried where an anchor (lower case) stands, and begins with it; its last group that took part is the secret (no group:
    all of it). ``examples`` are ``(text, secret)``; ``not_examples`` are texts that must stay as they are. All invented.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    examples: tuple[tuple[str, str], ...]
    not_examples: tuple[str, ...] = ()


# ── building blocks ──────────────────────────────────────────────────────────────────────────────────────────────
# Not inside a word. ASCII on purpose: a key right after Chinese or Cyrillic text is a key. Two exceptions: an escaped line end ("\nsk-…"
# inside pasted JSON) and a percent-escape ("token%3Dsk-…") end in a letter that belongs to no word.
_ESCAPED = r"|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})"
_LEFT = rf"(?:(?<![A-Za-z0-9]){_ESCAPED})"
_LEFT_TIGHT = rf"(?:(?<![A-Za-z0-9_-]){_ESCAPED})"  # where more must follow the body: else each anchor in one run would read to its end
_HAS_DIGIT = r"(?=[A-Za-z_-]{0,64}+[0-9])"

# A value that no prose has: a digit, a symbol, or two changes from small to capital (one is a name: GitHub, JavaScript).
_EVIDENCE = r"(?=[A-Za-z._/-]{0,64}+[0-9+=@#$%^]|[A-Z]{0,64}+[a-z]{1,64}+[A-Z]{1,64}+[a-z]{1,64}+[A-Z])"
_WORDS = r"none|null|nil|true|false|undefined|string|boolean|number|integer|object|optional|required|unknown"
# What stands for a value without being one: variables, templates, calls, types, paths, links.
_NOT_A_VALUE = (
    r"(?![<{(\[]|\$[{(]|\$[A-Za-z_]\w{0,64}+(?!\S)|%[sd({]|\*{3}|https?:|[~.]{0,2}/[a-z][\w.-]{0,64}+(?:[/\s]|$)"
    rf"|[A-Za-z_][\w.]{{0,64}}+[(\[]|(?:process|os|self|this|req|ctx|config|settings|env|args|options)\.|(?i:{_WORDS})(?!\w))"
)
_HOLLOW = rf"(?!\$?\{{|<|%[sd(]|\*{{3}}|(?i:{_WORDS})[\"'`\\])"  # the same for quoted values
_BARE = r"(?:[^\s\"'`,;<>&\\]|\\(?![nrt\"'\\]))"


def _assignment(names: str, *, spaces: bool) -> re.Pattern[str]:
    r"""``name=value``, ``name: value``, ``"name": "value"``, also inside escaped JSON.

    Quoted values are literals and always hidden, and so is what stands right after ``=``. ``:`` is also punctuation and asks for evidence,
    ``= `` is also code: evidence again, or a value that ends its line.
    ``spaces``: a quoted value may hold some (a passphrase), and a bare one may be a number.
    """
    inside = "" if spaces else r"\s"
    number = "" if spaces else r"(?![0-9]{1,15}(?!\w))"  # token=4096 is a budget; password=123456 is one
    quoted = "|".join(rf"{mark}{_HOLLOW}((?:[^{mark}\\\n{inside}]|\\[^\n{inside}]){{6,1024}}+){mark}" for mark in ('"', "'", "`"))
    return re.compile(
        rf"(?i:{names})(?i:[_-](?:base|value|prod|dev|test|staging|live|old|new|[0-9]{{1,3}}))?"
        rf"[*`]{{0,3}}(?:\\{{0,7}}[\"'])?\]?[*`]{{0,3}}[ \t]{{0,4}}"
        rf"(?:(?:=>|:=|:|=(?!=))[*]{{0,3}}[ \t]{{0,4}}(?:\\{{1,7}}\"{_HOLLOW}([^\"\\\n{inside}]{{6,1024}}+)\\{{1,7}}\"|{quoted})"
        rf"|(?:=(?![=>\s])|=[ \t]{{1,4}}(?:{_EVIDENCE}|(?={_BARE}{{6,}}+[ \t]{{0,4}}(?:[\r\n]|\\[nr]|$)))"
        rf"|:=?[*]{{0,3}}[ \t]{{0,4}}{_EVIDENCE})"
        rf"{number}(?:\\{{0,7}}[\"'`])?{_NOT_A_VALUE}({_BARE}{{6,}}+))"
    )


def _prefixed(prefix: str, body: str) -> re.Pattern[str]:
    """A key known by how it begins."""
    return re.compile(_LEFT + prefix + body)


_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:\s|\\[nr])*+(?:(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]{0,200}+(?:\s|\\[nr])*+){0,4}+"
    # Ended: up to the next dashes. Cut off: as long as it looks like base64, and a last short line that no word is.
    r"(?:[^-]++-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"|(?:[A-Za-z0-9+/=]{16,}+(?:[\s\"',+|>]|\\[nr])*+)++(?:(?=[A-Za-z]{0,15}+[0-9+/=])[A-Za-z0-9+/]{1,15}+={0,2})?)"
)
_PEM_BODY = (
    "MIIEpAIBAAKCAQEAr3y9Zw0dQmTtq2Jw1VxVb7c1mPqGZ8K4nB5sD6fH7jL8kQ1w\nE2rT3yU4iO5pA6sD7fG8hJ9kL0zX1cV2bN3mQ4wE5rT6yU7iO8pA9sD0fG1hJ2kL="
)
_B = "AbCd3fGh1jKlMn0pQrStUvWxYz"  # 26 characters, for examples
_B40 = "wJalrXUtnFEMIzK7MDENGzbPxRfiCYEXAMPLEKEY"

_PASSWORD_NAMES = ("password", "passwd", "passphrase", "pwd")
_SECRET_NAMES = ("secret", "private_key", "privatekey", "private-key", "credential")
_TOKEN_NAMES = ("token",)
_KEY_NAMES = ("api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "secret_key", "secret-key", "secretkey",
              "auth_key", "authkey", "signing_key", "encryption_key")  # fmt: skip
_FLAGS = ("--token", "--password", "--passwd", "--passphrase", "--secret", "--api-key", "--apikey", "--access-token", "--auth-token",
          "--access-key", "--secret-key", "--client-secret", "--private-key")  # fmt: skip

# ── the table: the more telling kind first, since it names what several rules found ──────────────────────────────
RULES: Final[tuple[Rule, ...]] = (
    Rule(
        kind="private-key",
        anchors=("-----begin ",),
        pattern=_PEM,
        examples=(
            (f"-----BEGIN RSA PRIVATE KEY-----\n{_PEM_BODY}\n-----END RSA PRIVATE KEY-----", _PEM_BODY),
            (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{_PEM_BODY}", _PEM_BODY),
            (f"-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\n{_PEM_BODY}", _PEM_BODY),
        ),
        not_examples=("the line -----BEGIN RSA PRIVATE KEY----- opens a key", "-----BEGIN CERTIFICATE-----\n" + _PEM_BODY),
    ),
    Rule(
        kind="jwt",
        anchors=("eyj",),
        pattern=re.compile(_LEFT_TIGHT + r"eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+(?:\.[A-Za-z0-9_-]*+){0,3}+"),
        examples=((f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{_B}", f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{_B}"),),
        not_examples=("greyJay.birds.fly",),
    ),
    Rule(
        kind="sk-key",
        anchors=("sk-",),
        pattern=_prefixed("sk-", _HAS_DIGIT + r"[A-Za-z0-9_-]{16,}+"),
        examples=tuple((key, key) for key in (f"sk-{_B}", f"sk-ant-api03-{_B}", f"sk-proj-{_B}_{_B}", "sk-test-000000000000000000000000")),
        not_examples=("task-force-2026-planning-meeting", "skip-1-skip-2-skip-3-skip-4", "sk-learn-pipelines-and-transformers"),
    ),
    Rule(
        kind="github-token",
        anchors=("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        pattern=re.compile(_LEFT + r"(?:gh[pousr]_[A-Za-z0-9]{30,}+|github_pat_[A-Za-z0-9_]{22,}+)"),
        examples=tuple((key, key) for key in (f"ghp_{_B}0123456789", f"ghs_{_B}0123456789", f"github_pat_11ABCDEFG0_{_B}")),
        not_examples=("ghp_example", "the prefix github_pat_ marks a fine-grained one"),
    ),
    Rule(
        kind="gitlab-token",
        anchors=("glpat-",),
        pattern=_prefixed("glpat-", _HAS_DIGIT + r"[A-Za-z0-9_-]{20,}+"),
        examples=((f"glpat-{_B}", f"glpat-{_B}"),),
    ),
    Rule(
        kind="slack-token",
        anchors=("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        pattern=re.compile(_LEFT + rf"(?:xox[abeoprs]|xapp)-{_HAS_DIGIT}[A-Za-z0-9-]{{10,}}+"),
        examples=tuple((key, key) for key in (f"xoxb-123456789012-{_B}", f"xapp-1-A012345-{_B}")),
    ),
    Rule(
        kind="aws-key-id",
        anchors=("akia", "asia"),
        pattern=re.compile(_LEFT + r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
        examples=tuple((key, key) for key in ("AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE")),
        not_examples=("the ASIAPACIFIC region", "asia"),
    ),
    Rule(
        kind="aws-secret",
        anchors=("secret_access_key", "secretaccesskey", "secret access key", "aws_secret", "aws secret"),
        pattern=re.compile(
            r"(?i:secret_access_key|secretaccesskey|secret access key|aws[_ ]secret(?:_key| key|_access_key)?)"
            r"[^A-Za-z0-9/+]{1,20}+(?:is )?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
        examples=((f"aws_secret_access_key = {_B40}", _B40), (f"AWS secret: {_B40}", _B40), (f'"SecretAccessKey": "{_B40}"', _B40)),
    ),
    Rule(
        kind="google-api-key",
        anchors=("aiza",),
        pattern=_prefixed("AIza", r"[0-9A-Za-z_-]{35,}+"),
        examples=((f"AIza{_B}012345678", f"AIza{_B}012345678"),),
    ),
    Rule(
        kind="google-oauth-token",
        anchors=("ya29.",),
        pattern=_prefixed(r"ya29\.", r"[0-9A-Za-z_-]{20,}+"),
        examples=((f"ya29.a0{_B}", f"ya29.a0{_B}"),),
    ),
    Rule(
        kind="huggingface-token",
        anchors=("hf_",),
        pattern=_prefixed("hf_", r"[A-Za-z0-9]{26,}+"),
        examples=((f"hf_{_B}", f"hf_{_B}"),),
        not_examples=("hf_hub_download_and_cache_everything",),
    ),
    Rule(
        kind="npm-token",
        anchors=("npm_",),
        pattern=_prefixed("npm_", r"[A-Za-z0-9]{30,}+"),
        examples=((f"npm_{_B}0123456789", f"npm_{_B}0123456789"),),
        not_examples=("npm_config_registry",),
    ),
    Rule(
        kind="pypi-token",
        anchors=("pypi-ag",),
        pattern=_prefixed("pypi-Ag", r"[A-Za-z0-9_-]{26,}+"),
        examples=((f"pypi-AgEIcHlwaS5vcmc{_B}", f"pypi-AgEIcHlwaS5vcmc{_B}"),),
    ),
    Rule(
        kind="stripe-key",
        anchors=("sk_live_", "sk_test_", "rk_live_", "rk_test_"),
        pattern=_prefixed("[sr]k_(?:live|test)_", r"[A-Za-z0-9]{10,}+"),
        examples=tuple((key, key) for key in (f"sk_live_{_B}", f"sk_test_{_B}", f"rk_live_{_B}")),
        not_examples=("task_test_something_long_enough",),
    ),
    Rule(
        kind="sendgrid-key",
        anchors=("sg.",),
        pattern=re.compile(_LEFT_TIGHT + r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"),
        examples=((f"SG.{_B}.{_B}{_B}", f"SG.{_B}.{_B}{_B}"),),
    ),
    Rule(
        kind="telegram-token",
        anchors=(":aa",),
        pattern=re.compile(r"(?<=[0-9]{8}):(AA[A-Za-z0-9_-]{30,}+)"),  # the digits are the bot's public id
        examples=((f"987654321:AAF{_B}0123456", f"AAF{_B}0123456"),),
    ),
    Rule(
        kind="authorization",
        anchors=("authorization",),
        pattern=re.compile(
            r"(?i:authorization)\\{0,7}[\"'`]?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}[\"'`]?(?i:bearer|basic|bot|token|apikey)[ \t]{1,4}"
            rf"{_NOT_A_VALUE}{_EVIDENCE}({_BARE}{{6,}}+)"
        ),
        examples=(("Authorization: Basic dXNlcjpwYXNzMTIz", "dXNlcjpwYXNzMTIz"), (f'-H "Authorization: Bearer {_B}"', _B)),
        not_examples=("Authorization: Bearer tokens are sent", "Authorization: Bearer $TOKEN", "authorization: basic access only"),
    ),
    Rule(
        kind="bearer",
        anchors=("bearer ", "bearer\t"),
        pattern=re.compile(rf"(?i:bearer)[ \t]{{1,4}}{_EVIDENCE}([A-Za-z0-9._~+/-]{{18,}}+=*+)"),
        examples=((f"bearer {_B}", _B),),
        not_examples=("a bearer of misunderstandings", "bearer authentication-and-authorization"),
    ),
    Rule(
        kind="url-password",
        anchors=("://",),
        # The last @ before the path: a password may hold one. Neither class crosses a "/", so no character is read for two anchors.
        pattern=re.compile(r"://[^\s/?#@:\"'<>]{0,256}+:(?![$<{*])([^\s/?#\"'<>]{1,256})@"),
        examples=(
            ("postgres://ferry:tide@t4ble@db.example:5432/x", "tide@t4ble"),
            ("redis://:hunter2hunter2@cache.example", "hunter2hunter2"),
        ),
        not_examples=("https://example.com:8080/a@b", "ssh://git@example.com/x", "postgres://user:$PASS@host/db"),
    ),
    Rule(
        kind="password",
        anchors=_PASSWORD_NAMES,
        pattern=_assignment("|".join(_PASSWORD_NAMES), spaces=True),
        examples=(
            ("password=tidetable", "tidetable"),
            ("DB_PASSWORD: t1detable", "t1detable"),
            ('"password": "tide table nine"', "tide table nine"),
            (r"{\"passwd\": \"tide-table\"}", "tide-table"),
            ("**Password:** t1de!table", "t1de!table"),
            ("pwd = 'it\\'s high tide'", "it\\'s high tide"),
        ),
        not_examples=("password: resetting flow docs", "PASSWORD:banana-example", "password = get_password(user)", "PWD=/home/ferry"),
    ),
    Rule(
        kind="api-key",
        anchors=_KEY_NAMES,
        pattern=_assignment("|".join(_KEY_NAMES), spaces=False),
        examples=((f"x-api-key: {_B}", _B), (f'"apiKey": "{_B}"', _B), (f"?api_key={_B}&page=2", _B), ("access_key=abcdefgh", "abcdefgh")),
        not_examples=(
            "api key: ask the team",
            "apiKey: process.env.API_KEY",
            "api_key=${API_KEY}",
            "const apiKey = parsed.apiKey || given;",
        ),
    ),
    Rule(
        kind="secret",
        anchors=_SECRET_NAMES,
        pattern=_assignment("|".join(_SECRET_NAMES), spaces=False),
        examples=tuple((f"{name}{value}", value) for name, value in (("client_secret=", "abcdefgh"), ("db.secret = ", "harb0ur-light"))),
        not_examples=("the secret: never merge on Friday", "secret: GitHub Actions has them", "secrets: see the vault"),
    ),
    Rule(
        kind="token",
        anchors=_TOKEN_NAMES,
        pattern=_assignment("|".join(_TOKEN_NAMES), spaces=False),
        examples=((f"FOO_TOKEN={_B}", _B), (f"accessToken: '{_B}'", _B), (f"export TOKEN_2={_B}", _B)),
        not_examples=("see the token bucket", "max_tokens=4096", "token=4096", "token: string", "if token == other:", "token := next()"),
    ),
    Rule(
        kind="flag",
        anchors=_FLAGS,
        pattern=re.compile(
            rf"(?i:{'|'.join(_FLAGS)})[ \t]{{1,4}}(?:\"{_HOLLOW}([^\"\\\n]{{6,1024}}+)\"|'{_HOLLOW}([^'\\\n]{{6,1024}}+)'"
            rf"|(?!-){_NOT_A_VALUE}{_EVIDENCE}({_BARE}{{6,}}+))"
        ),
        examples=((f"wesaid serve --token {_B}", _B), ("psql --password 'tide table'", "tide table")),
        not_examples=("--password from the keychain", "--token $TOKEN", "--token --verbose2"),
    ),
)
_ANCHORS: Final = tuple((anchor, place) for place, rule in enumerate(RULES) for anchor in rule.anchors)


def spans(text: str) -> tuple[Span, ...]:
    """Where the secrets are, sorted, not overlapping, in code points of ``text``. Placeholders already there are no secrets."""
    pieces = [(start, end) for start, end in _around(text) if end - start >= _SHORTEST]
    found: list[Span] = []
    for _ in range(_ROUNDS):
        again: list[tuple[int, int]] = []
        for start, end in pieces:
            hits = _scan(text[start:end])
            last = start
            for hit in hits:
                found.append(Span(start + hit.start, start + hit.end, hit.kind))
                again.append((last, start + hit.start))
                last = start + hit.end
            if hits:
                again.append((last, end))
        pieces = [(start, end) for start, end in again if end - start >= _SHORTEST]
        if not pieces:
            break
    found += [Span(start, end, "other") for start, end in pieces if _scan(text[start:end])]
    return tuple(sorted(found, key=lambda span: span.start))


def apply(text: str, hidden: tuple[Span, ...]) -> str:
    """``text`` with each span (as ``spans`` gave them for this text) replaced by ``[redacted:<kind>]``."""
    if not hidden:
        return text
    parts: list[str] = []
    last = 0
    for span in hidden:
        parts += (text[last : span.start], f"[redacted:{span.kind}]")
        last = span.end
    parts.append(text[last:])
    return "".join(parts)


def redact(text: str) -> str:
    """The text without its secrets; for every text, redacting the result again gives the result."""
    return apply(text, spans(text))


def _around(text: str) -> Iterator[tuple[int, int]]:
    """The pieces between placeholders."""
    last = 0
    if "[redacted:" in text:
        for match in _PLACEHOLDER.finditer(text):
            yield last, match.start()
            last = match.end()
    yield last, len(text)


def _scan(piece: str) -> list[Span]:
    """One pass of the table over a text without placeholders; what overlaps is joined under the kind that stands first in the table."""
    lowered = piece.replace("\u0130", "i").lower()  # the one character whose lower case is longer: offsets must stay
    hits: list[tuple[int, int, int]] = []
    for anchor, place in _ANCHORS:
        if anchor not in lowered:
            continue
        pattern = RULES[place].pattern
        at = lowered.find(anchor)
        while at >= 0:
            match = pattern.match(piece, at)
            following = at + len(anchor)
            if match:
                start, end = match.span(match.lastindex or 0)
                hits.append((start, end, place))
                if end - at > _NESTED_CODE_POINTS:
                    following = max(following, end)
            at = lowered.find(anchor, following)
    return _joined(hits)


def _joined(hits: list[tuple[int, int, int]]) -> list[Span]:
    joined: list[tuple[int, int, int]] = []
    for start, end, place in sorted(hits):
        if joined and start < joined[-1][1]:
            first, until, kind = joined[-1]
            joined[-1] = (first, max(until, end), min(kind, place))
        else:
            joined.append((start, end, place))
    return [Span(start, end, RULES[place].kind) for start, end, place in joined]
