"""Claims about ``wesaid.rules.redact.fields``: values of JSON whose name stands beside or around them. All secrets here are invented."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid.rules.redact import BUILT_IN, fields

V = "t1detable9Kd"
WORD = "harbourtable"  # without evidence
SEED = "ferry tide amber canoe meadow lunar violin orbit maple cobalt raven quartz"
PEM = ["-----BEGIN RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEAr3y9Zw0dQmTtq2Jw1VxVb7c1mPqGZ8K4nB5sD6fH7jL8kQ1w",
       "E2rT3yU4iO5pA6sD7fG8hJ9kL0zX1cV2bN3mQ4wE5rT6yU7iO8pA9sD0fG1hJ2kL=", "-----END RSA PRIVATE KEY-----"]  # fmt: skip
LITERAL = (
    ["psql", "--password", "%"], ["curl", "-u", "bob:%"], ["sshpass", "-p", "%"], ["mysql", "-p%"], ["docker", "login", "-p", "%"],
    {"name": "X-Api-Key", "value": "%"}, {"key": "DB_PASSWORD", "value": "%"}, {"password": {"value": "%"}}, {"client_secret": [{"value": "%"}]},
    {"token": [["%"]]}, {"passwords": ["%"]}, {"apiKeys": ["%"]}, {"password_confirmation": "%"}, {"passwordConfirm": "%"},
    {"cookies": [{"name": "sid", "value": "%", "domain": "x.example"}]}, {"cookies": {"sid": "%"}}, {"cookies": ["sid=%"]},
)  # fmt: skip
EVIDENT = ({"headers": [["X-Api-Key", "%"]]}, {"tokens": ["%"]}, {"accessTokens": {"ferry": "%"}}, {"password": {"$eq": "%"}},
           {"env": [{"name": "DB_PASS", "value": "%"}]}, {"name": "Authorization", "value": "Bearer %%"})  # fmt: skip
TEMPLATES = [*((shape, V) for shape in (*LITERAL, *EVIDENT)), *((shape, WORD) for shape in LITERAL)]


def redacted(value):
    """Redacted, and the same when it is done again."""
    out = fields.redacted(BUILT_IN, value)
    assert fields.redacted(BUILT_IN, out) == out
    return out


@pytest.mark.parametrize(("shape", "secret"), TEMPLATES)
def test_a_value_whose_name_stands_beside_or_around_it_is_hidden(shape, secret):
    """Flags, pairs, names with values, nests, plurals, repetitions and cookies; the structure stays."""
    said = json.dumps(redacted(json.loads(json.dumps(shape).replace("%", secret))))
    assert secret not in said
    assert "[redacted:" in said
    assert len(json.loads(said)) == len(shape)


@pytest.mark.parametrize("value", [
    {"seed_phrase": SEED}, {"seedPhrase": SEED}, {"mnemonic": {"value": SEED}}, {"seed_phrase": SEED.split()}, PEM, {"key": PEM},
    {"password": 123456.5}, {"password": 1234567}, {"passwords": [1234567]}, {"name": "cvv", "value": "017"},
])  # fmt: skip
def test_phrases_keys_in_lines_and_numbers_are_hidden(value):
    """As a text, as a list of words or lines, as an integer or a float."""
    said = json.dumps(redacted(value))
    assert not [part for part in (*SEED.split(), *PEM[1:3], "1234", "017") if part in said]


@pytest.mark.parametrize("value", [
    {"properties": {"password": {"type": "string", "description": "the user's password", "minLength": 8}}, "required": ["password", "username"]},
    {"usage": {"input_tokens": 1234567, "tokens": {"input": 1234567, "cost": 0.1234567}, "max_tokens": 4096}},
    {"args": ["git", "commit", "-m", "the token bucket"]}, ["token", "bucket"], {"name": "get_token", "arguments": {"x": "hello there"}},
    {"name": "colour", "value": "turquoise"}, {"token": {"createdAt": "2026-03-01T10:00:00Z", "id": "abc123def"}},
    ["--max-tokens", "4096"], ["--verbose", "token1234"], {"password": None, "token": True, "secret": []},
])  # fmt: skip
def test_schemas_counts_and_words_are_left_alone(value):
    """What only has such a name in it comes out as it went in."""
    assert redacted(value) == value


JSON = st.recursive(
    st.sampled_from([V, WORD, "--password", "-u", "a:" + V, "[redacted:token]", "", "x", SEED, PEM[0], PEM[1], 1234567, 1.5, None, True]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["password", "name", "value", "tokens", "cookies", "key", "x", "apiKey", "new"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_redacting_a_value_keeps_its_shape_and_is_enough_once(value):
    """For every JSON value: the same fields and lengths, and a second pass changes nothing."""

    def shape(one):
        if isinstance(one, dict):
            return [shape(inner) for inner in one.values()]
        return [shape(inner) for inner in one] if isinstance(one, list) else None

    assert shape(redacted(value)) == shape(value)


def test_deep_values_are_visited_once():
    """Sixty lists and fields inside each other, deeper than is read, come back at once and without the secret."""
    value: object = V
    for _ in range(60):
        value = {"password": [value]}
    assert V not in json.dumps(fields.redacted(BUILT_IN, value))
