"""Claims about ``wesaid.keys``: one spelling for each key, whatever is in a name, and never more than 256 bytes."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wesaid import keys, limits
from wesaid.errors import InputError

REST = st.text(min_size=1, max_size=120).filter(lambda text: text.strip())


@given(rest=REST)
@example(rest="a b")
@example(rest="a%b")
@example(rest="import:A b")
@example(rest="é" * 200)
@example(rest="import:" + "会" * 200)
def test_a_key_as_it_is_spelled_parses_to_itself(rest):
    """Whoever gets a key in an answer can give it back: spelling is a fixed point, safe and short."""
    spelled = str(keys.parse(f"agent:main:{rest}"))
    assert str(keys.parse(spelled)) == spelled
    assert len(spelled.encode()) <= limits.SESSION_KEY_BYTES
    assert re.fullmatch(r"[A-Za-z0-9._:@+%-]+", spelled)


@given(name=REST)
def test_the_key_of_an_imported_session_parses_to_itself(name):
    """Also for what an importer makes of a source's id."""
    for made in (keys.imported("codex", name), keys.subagent("codex", name)):
        assert str(keys.parse(str(made))) == str(made)


@pytest.mark.parametrize(
    ("given_", "spelled"),
    [
        ("agent:main:main", "agent:main:main"),
        (" AGENT:Main:MAIN ", "agent:main:main"),
        ("agent:main:Dashboard:AbC", "agent:main:dashboard:abc"),
        ("agent:main:import:AbC", "agent:main:import:AbC"),
        ("agent:main:subagent:AbC", "agent:main:subagent:AbC"),
        ("agent:main:import:a b", "agent:main:import:a%20b"),
        ("agent:main:telegram:group:-100@x+y.z_1", "agent:main:telegram:group:-100@x+y.z_1"),
    ],
)
def test_a_key_has_one_spelling(given_, spelled):
    """Lower case, but for what came from elsewhere; what a key may not hold is percent-encoded."""
    assert str(keys.parse(given_)) == spelled


@pytest.mark.parametrize(
    "text",
    [
        "",
        "main",
        "agent",
        "agent:",
        "agent:main",
        "agent:main:",
        "agent::main",
        "agents:main:main",
        "agent:-x:main",
        "agent:a/b:main",
        "agent:" + "a" * 65 + ":x",
    ],
)
def test_what_is_no_key_is_refused(text):
    """By an error that says what one looks like, and names its field."""
    with pytest.raises(InputError) as caught:
        keys.parse(text)
    assert caught.value.details["field"] in {"sessionKey", "agentId"}
    assert caught.value.hint


def test_long_names_stay_apart_when_they_are_cut():
    """256 bytes at most; two names that differ only at their ends are two keys."""
    first, second = (str(keys.imported("main", "x" * 400 + end)) for end in "ab")
    assert first != second
    assert len(first) == len(second) == limits.SESSION_KEY_BYTES
    assert str(keys.imported("main", "x" * 400 + "a")) == first


@pytest.mark.parametrize("text", ["main", "a", "0", "claude-code", "a_b", "a" * 64])
def test_agent_ids_that_are_allowed(text):
    """They are given back as they are."""
    assert keys.agent_id(text) == text


@pytest.mark.parametrize("text", ["", "-a", "_a", "A", "a b", "a/b", "..", "a" * 65, "é", "a\n"])
def test_agent_ids_that_are_not_allowed(text):
    """An agent id becomes a folder's name, so that nothing else passes."""
    with pytest.raises(InputError) as caught:
        keys.agent_id(text)
    assert caught.value.details["field"] == "agentId"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("agent:main:dashboard:incognito-1", True),
        ("agent:main:subagent:incognito-1", True),
        ("agent:main:internal-session-effects:incognito-1", True),
        ("AGENT:main:Dashboard:INCOGNITO-1", True),
        ("agent:main:dashboard:not-incognito-1", False),
        ("agent:main:import:incognito-1", False),
        ("agent:main:dashboard:incognito", False),
    ],
)
def test_incognito_is_read_off_the_key(key, expected):
    """OpenClaw's three places, in any case."""
    assert keys.is_incognito(key) is expected


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("agent:main:main", "main"),
        ("agent:main:import:abc", "import"),
        ("agent:main:subagent:abc", "subagent"),
        ("agent:main:cron:daily", "cron"),
        ("agent:main:hook:x", "hook"),
        ("agent:main:telegram:group:-100", "group"),
        ("agent:main:slack:channel:c1", "group"),
        ("agent:main:telegram:direct:7", "other"),
        ("agent:main:dashboard:1", "other"),
        ("agent:main:cron:daily:run:1", "cron"),
        ("agent:main:maintenance", "other"),
    ],
)
def test_the_kind_is_read_off_the_key(key, kind):
    """One of the contract's seven words."""
    assert keys.kind(key) == kind


def test_a_message_id_is_its_own_unless_it_is_absurd():
    """256 bytes; longer ones are hashed and stay apart."""
    assert keys.message_id("x" * limits.MESSAGE_ID_BYTES) == "x" * limits.MESSAGE_ID_BYTES
    first, second = keys.message_id("x" * 999 + "a"), keys.message_id("x" * 999 + "b")
    assert first != second
    assert len(first) < limits.MESSAGE_ID_BYTES
    assert keys.message_id("\ud800" * 300).isascii()
    assert re.fullmatch(r"[0-9a-f]{8}", keys.short_digest("/a/path\ud800"))
