"""Claims about where a value ends, what it may hold, and that chance decides nothing. All secrets here are invented."""

from __future__ import annotations

import random
import re
import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wesaid.rules import redact
from wesaid.rules.redact.keys import KEYS

MARK = re.compile(r"\[redacted:[a-z0-9-]+\]")
LETTERS = string.ascii_letters + string.digits
PREFIXES = sorted(
    {
        (rule.kind, secret[: len(anchor)], secret, text)
        for rule in KEYS
        for text, secret in rule.examples
        for anchor in [max((one for one in rule.anchors if secret.lower().startswith(one)), key=len, default="")]
        if anchor
    }
)


def hidden(text: str) -> str:
    """The text with every placeholder as a star, redacted once and the same twice."""
    out = redact.redact(text)
    assert redact.redact(out) == out
    return MARK.sub("*", out)


@pytest.mark.parametrize("stop", [".", "!", ",", ". Then", "! Then", ", he said", "?", ".)", ""])
@pytest.mark.parametrize(
    ("lead", "value"),
    [("my password is ", "hunter2hunter2"), ("the API key is ", "AbCd3fGh1jKlMn0"), ("the token is ", "abcdef0123ghijkl"),
     ("my password is ", "blue-horse-battery-9"), ("my password is ", "hunter2.Harbour9"), ("my password is ", "$ecret99.x"), ("CVC: ", "017")],
)  # fmt: skip
def test_a_value_before_the_end_of_its_sentence_is_hidden_and_the_stop_stays(lead, value, stop):
    """Whatever mark ends the sentence or the clause."""
    assert hidden(lead + value + stop) == lead + "*" + stop


@pytest.mark.parametrize("text", [
    "password: buFx!mknKzL3", "DB_PASSWORD: p!ssw0rd1", "password: Pass&word1", "secret: ab:cd12efgh34", "token: abc~def123ghi456",
    "password=ab;cd3efgh", "password=abc,def3gh12", 'PASSWORD=a"b3cdefgh', "password={abc9dkfj39", "password=<abc9dkfj39",
    "password=[abc9dkfj39", "password=(abc9dkfj39", "password=***abc9dkfj39", "API_KEY=none-9dkfj39abc", "password: env.9dkfj39",
    "token: qwertyuiop,asdfgh1", "token: 12/BHCoWs6x", "password: blue-horse-battery-9", "api key: t1detable", "password -> t1detable",
    "password＝tidetable", "DB_PASS: t1detable", "pw: t1detable", "psk=t1detable", "otp: 017017",
])  # fmt: skip
def test_a_value_is_hidden_up_to_white_space(text):
    """Whatever marks it holds or begins with, nothing of it is left; what closes around it stays."""
    lead = re.match(r"[\w ]+(?:[:=＝]| ->) ?", text)
    assert lead is not None
    assert hidden(text) == lead[0] + "*"
    if not re.search(r"=[\[(]", text):  # closed again, it is a template
        assert hidden(f"({text}) and") == f"({lead[0]}*) and"
    assert hidden(f'"{text}", "x"') == f'"{lead[0]}*", "x"'


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(("password=%s", "DB_PASSWORD: %s", "client_secret=%s", "token: %s", "my password is %s.", "password -> %s", "pw: %s,")),
    st.text(st.sampled_from(LETTERS + "!#%+,-./:;@^_|~"), min_size=8, max_size=20),
)
def test_no_six_characters_of_a_value_of_letters_digits_and_marks_survive(frame, middle):
    """For every value with a digit between two letters, whatever marks stand inside."""
    assume(not re.search(r"[:/]//?|[a-z]=", middle))  # links have a rule of their own
    value = f"k{middle}7Zx9qR"
    assume(not re.search(r"\.(?:pem|crt|cer|pub|p12|pfx|jks)$", value))
    out = MARK.sub("\n", redact.redact(frame % value)).removeprefix(frame.partition("%")[0])
    assert not [at for at in range(len(value) - 5) if value[at : at + 6] in out]


@pytest.mark.parametrize(("kind", "head", "secret", "text"), PREFIXES, ids=[f"{kind} {head}" for kind, head, _, _ in PREFIXES])
def test_no_random_key_of_a_listed_prefix_survives(kind, head, secret, text):
    """300 of each, of the length and the letters of the example: no digit needs to stand anywhere."""
    draw = random.Random(f"{kind} {head}")  # always the same
    body = secret[len(head) :]
    if re.fullmatch("[0-9a-f-]+", body):
        letters = "0123456789abcdef"
    else:
        letters = string.ascii_uppercase + string.digits if re.fullmatch("[0-9A-Z-]+", body) else LETTERS
    for _ in range(300):
        key = head + "".join(draw.choice(letters) if one.isalnum() else one for one in body)
        assert key[-6:] not in redact.redact(text.replace(secret, key)), key


def test_a_gitlab_or_a_stripe_key_without_an_early_digit_is_hidden():
    """The alphabet and the length say enough."""
    for key in (
        "glpat-oJgFFEyPNaxwPQOIGh3Q",
        "glpat-oJgFFEyPNaxwPQOIGhaQ",
        "sk_live_oJgFFEyPNaxwPQOIGhaQoJgF",
        "whsec_oJgFFEyPN+xw/QOIGhaQoJgF=",
    ):
        assert hidden(f"use {key} now") == "use * now"


@pytest.mark.parametrize("text", [
    "next_token=next_token", "password=password", "passphrase=passphrase", "aws_secret_access_key=aws_secret_access_key",
    "connect(password=password, token=user.token)", "CACHE_KEY=v2-node-modules-linux-x64-2024", "SORT_KEY=v2-node-modules-linux-x64-2024",
    "FOREIGN_KEY=v2-node-modules-linux-x64-2024", "token: AccessTokenDto", "secret: SecretKeyRef", "token: AccessTokenDto[]",
    "private_key: path/to/key1.pem", "see token: src/lib2/auth.ts", "the token is JavaScriptCore", "the token is JavaScriptCore.",
    "CVC: 123 Main St", "ps -u root:wheel", "the password is **required**", "the password is ./secret/file1", "PASS: test_ferry_1",
    "password=<your-password>", "password={{ password }}", "password=${DB_PASSWORD}", "password=***", "password=args.password",
    'connect(password=config["db"])', "token: string|null", "secret: arn:aws:secretsmanager:eu:1:x", "token=4096, page=2",
    f"cache key {'0a' * 32}", f"public key: {'0a' * 32}",
])  # fmt: skip
def test_what_is_called_like_a_secret_and_is_none_stays(text):
    """Variables named after what they are given to, types, files, masks, templates, keys of caches and tables."""
    assert redact.redact(text) == text
