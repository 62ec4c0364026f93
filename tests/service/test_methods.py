"""Claims about THE TABLE: every wrong parameter is refused by its name, what was given, and what is allowed."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wesaid import limits
from wesaid.errors import InputError
from wesaid.service import methods
from wesaid.service.methods import HistoryParams, ListParams, SearchParams

REQUIRED = {SearchParams: {"query": "x"}, HistoryParams: {"sessionKey": "agent:main:main"}, ListParams: {}}
NUMBERS = [
    (SearchParams, "limit", 1, limits.RESULTS_MAX),
    (SearchParams, "context", 0, limits.CONTEXT_MESSAGES_MAX),
    (SearchParams, "waitMs", 0, limits.WAIT_MS_MAX),
    (HistoryParams, "limit", 1, limits.HISTORY_MAX),
    (HistoryParams, "offset", 0, None),
    (HistoryParams, "messagesBefore", 0, limits.HISTORY_MAX),
    (HistoryParams, "messagesAfter", 0, limits.HISTORY_MAX),
    (ListParams, "activeMinutes", 1, None),
    (ListParams, "limit", 1, limits.LIST_MAX),
    (ListParams, "offset", 0, None),
]
CHOICES = [
    (SearchParams, "role", ("user", "assistant")),
    (SearchParams, "order", ("relevance", "newest", "oldest")),
    (SearchParams, "detail", ("index", "snippet", "full")),
]
TEXTS = [
    *((SearchParams, name) for name in ("query", "sessionKey", "after", "before", "tool", "project", "timeZone")),
    *((HistoryParams, name) for name in ("sessionKey", "messageId", "sessionId")),
    *((ListParams, name) for name in ("label", "agentId", "search", "tool", "project")),
]
LISTS = [(SearchParams, "excludeSessionKeys"), (SearchParams, "agentIds"), (ListParams, "kinds")]
SWITCHES = [
    (HistoryParams, "includeTools"),
    (ListParams, "includeDerivedTitles"),
    (ListParams, "includeLastMessage"),
    (ListParams, "archived"),
]


def refusal(kind, name, value):
    with pytest.raises(InputError) as caught:
        methods.convert(kind, {**REQUIRED[kind], name: value})
    assert caught.value.details["field"] == name
    assert name in caught.value.message
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(("kind", "name", "low", "high"), NUMBERS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_number_out_of_range_names_its_range(kind, name, low, high):
    """Both ends, and what is no whole number at all: text, fractions, true, a list."""
    for value in (low - 1, -(10**30), "5", 2.5, True, [1], *([high + 1, 10**30] if high is not None else [])):
        error = refusal(kind, name, value)
        assert str(value)[:20] in error.message
        assert str(low) in error.hint
        assert high is None or str(high) in error.hint
    for value in (low, low if high is None else high):
        made = methods.convert(kind, {**REQUIRED[kind], name: value})
        assert msgspec.to_builtins(made)[name] == value


@pytest.mark.parametrize(("kind", "name", "words"), CHOICES, ids=lambda value: str(value)[:20])
def test_a_word_that_is_no_choice_names_the_choices(kind, name, words):
    """Case counts; a number is no word."""
    for value in ("", "nonsense", words[0].upper(), 5, True, [words[0]]):
        error = refusal(kind, name, value)
        assert all(word in error.hint for word in words)
    for word in words:
        assert msgspec.to_builtins(methods.convert(kind, {**REQUIRED[kind], name: word}))[name] == word


@pytest.mark.parametrize(("kind", "name"), TEXTS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_text_that_is_none_is_refused(kind, name):
    """Numbers, lists and switches are no texts."""
    for value in (5, True, ["x"], {"x": 1}, b"x"):
        assert repr(value)[:10] in refusal(kind, name, value).message


@pytest.mark.parametrize(("kind", "name"), LISTS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_list_that_is_none_is_refused(kind, name):
    """A single text is no list, nor is a list of numbers."""
    for value in ("x", 5, [5], {"x": 1}):
        refusal(kind, name, value)


def test_too_many_excluded_sessions_name_the_bound():
    """At most 200."""
    error = refusal(SearchParams, "excludeSessionKeys", ["x"] * (limits.EXCLUDED_KEYS_MAX + 1))
    assert str(limits.EXCLUDED_KEYS_MAX) in error.hint
    assert (
        len(methods.convert(SearchParams, {"query": "x", "excludeSessionKeys": ["x"] * limits.EXCLUDED_KEYS_MAX}).exclude_session_keys)
        == 200
    )


@pytest.mark.parametrize(("kind", "name"), SWITCHES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_a_switch_is_true_or_false(kind, name):
    """Nothing else is taken for one; the word "true" neither."""
    for value in ("true", 1, 0, None, []):
        refusal(kind, name, value)
    assert msgspec.to_builtins(methods.convert(kind, {**REQUIRED[kind], name: True}))[name] is True


@pytest.mark.parametrize("kind", list(REQUIRED), ids=lambda kind: kind.__name__)
def test_an_unknown_parameter_is_refused_by_name(kind):
    """Never ignored; the error lists what there is."""
    for name in ("colour", "session", "LIMIT", ""):
        with pytest.raises(InputError, match="unknown parameter") as caught:
            methods.convert(kind, {**REQUIRED[kind], name: 1})
        assert caught.value.details["field"] == name
        assert "limit" in caught.value.hint


@pytest.mark.parametrize(("kind", "name"), [(SearchParams, "query"), (HistoryParams, "sessionKey")], ids=str)
def test_what_is_required_is_named_when_it_is_missing(kind, name):
    """One error, about the missing one."""
    with pytest.raises(InputError, match="missing") as caught:
        methods.convert(kind, {})
    assert caught.value.details["field"] == name


def test_defaults_are_the_contracts():
    """Contract.md §2's table."""
    made = methods.convert(SearchParams, {"query": "x"})
    assert (made.limit, made.order, made.context, made.detail, made.wait_ms, made.role, made.reveal) == (
        10,
        "relevance",
        0,
        "snippet",
        250,
        None,
        False,
    )


def test_python_spelling_is_taken_too():
    """``wait_ms`` and ``waitMs`` are one parameter; errors speak of the wire's name."""
    assert methods.convert(SearchParams, {"query": "x", "wait_ms": 5}).wait_ms == 5
    with pytest.raises(InputError) as caught:
        methods.convert(SearchParams, {"query": "x", "wait_ms": -5})
    assert caught.value.details["field"] == "waitMs"


@given(
    st.dictionaries(
        st.sampled_from([field.encode_name for field in msgspec.structs.fields(SearchParams)]) | st.text(max_size=5),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text(max_size=3), max_size=3),
        max_size=4,
    )
)
def test_any_mapping_is_parameters_or_an_input_error(params):
    """Whatever a program sends, it gets the one kind of error, of bounded length."""
    said = ""
    try:
        methods.convert(SearchParams, params)
    except InputError as error:
        said = str(error)
    assert len(said) < 500
