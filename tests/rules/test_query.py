"""The little language: words are never syntax unless they are meant to be."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.errors import QueryError
from wesaid.rules.fold import find, tokens
from wesaid.rules.query import parse

_PIECES = st.sampled_from(
    [
        "a",
        "deploy",
        "OR",
        "-",
        "-x",
        '"',
        "“",
        "”",
        "*",
        "foo*",
        "role:user",
        "agent:codex",
        "session:",
        "before:7d",
        " ",
        "评审会议",
        "🚀",
        "***",
        "(",
        "it's",
        "\x00",
    ]
)
_QUERIES = st.one_of(st.text(), st.lists(_PIECES, max_size=20).map(" ".join), st.lists(_PIECES, max_size=20).map("".join))


def words(text: str) -> list[str]:
    """Each clause as its alternatives, each as its tokens; a star marks a prefix."""
    return [" | ".join(" ".join(t.tokens) + "*" * t.prefix for t in clause.terms) for clause in parse(text).clauses]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("DEC-0054", ["dec 0054"]),
        ('"DEC-0054"', ["dec 0054"]),
        ("dec 0054", ["dec", "0054"]),
        ("atomic_write_json", ["atomic write json"]),
        ("gateway/run.py", ["gateway run py"]),
        ("ops@example.com", ["ops example com"]),
        ("it's broken", ["it", "broken"]),
        ("don't", ["don t"]),
        ("What is Anna’s plan?", ["what", "is", "anna", "plan"]),
        ("50% #1234 ok? a,b c++", ["50", "1234", "ok", "a b", "c"]),
        ("TODO: fix rowid:1 t:alpha", ["todo", "fix", "rowid 1", "t alpha"]),
        ("🚀 deploy", ["🚀", "deploy"]),
        ("see (this) [one]", ["see", "this", "one"]),
        ("a\x00b", ["a b"]),
        ("foo AND bar NOT baz NEAR(x)", ["foo", "and", "bar", "not", "baz", "near x"]),
        ("the same the", ["the", "same"]),
    ],
)
def test_plain_text_is_words(typed, expected):
    """B01, B02, B03, B04, B05: punctuation separates and is never syntax."""
    assert words(typed) == expected


@pytest.mark.parametrize("char", string.punctuation)
def test_every_ascii_punctuation_mark_is_harmless(char):
    """B01: alone, in front, behind and inside."""
    assert parse(char).symbols_only
    assert "deploy" in " ".join(words(f"now {char} deploy"))
    assert tokens(f"now de{char}ploy") == tuple(" ".join(words(f"now de{char}ploy")).split())
    assert words(f"deploy{char} now")[-1] == "now"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ('"ferry timetable" tuesday', ["ferry timetable", "tuesday"]),
        ("“ferry timetable” tuesday", ["ferry timetable", "tuesday"]),
        ('("ferry timetable")', ["ferry timetable"]),
        ('"ferry timetable', ["ferry", "timetable"]),
        ("“ferry timetable", ["ferry", "timetable"]),
        ("ferry timetable”", ["ferry", "timetable"]),
        ('"" ferry ""', ["ferry"]),
        ('5" disk', ["5", "disk"]),
        ("关于“评审 会议”", ["关于", "评审 审 会议"]),
        ('"ferry time"*', ["ferry time*"]),
    ],
)
def test_quotes_make_phrases_when_they_close(typed, expected):
    """An open quote is punctuation; typographic quotes are quotes, also inside text without spaces."""
    assert words(typed) == expected


def test_only_quoted_terms_are_marked_quoted():
    """A plan must know what has to stay together, function words too."""
    quoted, plain = parse('"to be" or-not').clauses
    assert quoted.terms[0].quoted
    assert not plain.terms[0].quoted


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("deploy*", ["deploy*"]), ("c*", ["c*"]), ("*", []), ("**bold**", ["bold"]), ("a*b", ["a b"]), ("*.py", ["py"]), ("评审*", ["评审"])],
)
def test_one_star_behind_a_word_makes_a_prefix(typed, expected):
    """Stars anywhere else are punctuation."""
    assert words(typed) == expected


@pytest.mark.parametrize(
    ("typed", "expected", "excluded"),
    [
        ("alpha -beta", ["alpha"], ["beta"]),
        ('alpha -"beta gamma"', ["alpha"], ["beta gamma"]),
        ("-0054", ["0054"], []),
        ("-a -b", ["a", "b"], []),
        ("role:user -a", ["a"], []),
        ("- --x", ["x"], []),
        ("alpha - beta", ["alpha", "beta"], []),
        ("alpha -***", ["alpha"], []),
        ("well-known", ["well known"], []),
        ("alpha -foo*", ["alpha"], ["foo"]),
        (": OR : -a", ["a"], []),
    ],
)
def test_a_minus_excludes_only_beside_something_to_find(typed, expected, excluded):
    """B07: a query of exclusions only is text; so is a minus alone, and two of them."""
    assert words(typed) == expected
    assert [" ".join(t.tokens) for t in parse(typed).excluded] == excluded


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("a OR b", ["a | b"]),
        ("a OR b OR c d", ["a | b | c", "d"]),
        ('"x y" OR z', ["x y | z"]),
        ("a or b", ["a", "or", "b"]),
        ("OR a", ["or", "a"]),
        ("a OR", ["a", "or"]),
        ("OR", ["or"]),
        ("a OR -b c", ["a", "or", "c"]),
        ("a OR role:user", ["a", "or"]),
        ("a OR ***", ["a"]),
        ("c -a OR b", ["c", "or", "b"]),
    ],
)
def test_or_joins_words_and_is_a_word_when_it_has_nothing_to_join(typed, expected):
    """Upper case only, between two things to find."""
    assert words(typed) == expected


def test_fields_are_taken_out_and_only_ours():
    """Each field of the contract, quoted values too; what is no field stays a word with a colon."""
    found = parse('ferry role:User agent:codex session:agent:main:main tool:codex project:"/home/a b" after:2026-01-01 before:7d kind:x')
    assert found.fields == {
        "role": "user",
        "agent": "codex",
        "session": "agent:main:main",
        "tool": "codex",
        "project": "/home/a b",
        "after": "2026-01-01",
        "before": "7d",
    }
    assert [" ".join(c.terms[0].tokens) for c in found.clauses] == ["ferry", "kind x"]


@pytest.mark.parametrize("typed", ["agent:main:main", "role: user", "session:", 'tool:""', "Role:user", "agent:Ünsinn"])
def test_a_field_without_a_fitting_value_is_text(typed):
    """A pasted session key is searched for, not taken for a field."""
    found = parse(typed)
    assert not found.fields
    assert found.clauses


def test_a_query_of_fields_only_has_no_clauses_and_is_not_symbols():
    """The service says that words are missing."""
    found = parse("role:user")
    assert (found.clauses, found.whole, found.symbols_only) == ((), None, False)


def test_an_unknown_role_is_an_error_that_names_the_roles():
    """`role:` is a promise to filter: to search on without it would widen the answer."""
    with pytest.raises(QueryError, match=r"role:admin .*role:user and role:assistant") as caught:
        parse("ferry role:admin")
    assert caught.value.details["position"] == 6


@pytest.mark.parametrize("typed", ["", "   ", "\n\t\u3000"])
def test_a_blank_query_is_an_error(typed):
    """B13: never a bare empty list."""
    with pytest.raises(QueryError, match="blank"):
        parse(typed)


def test_a_query_that_is_too_long_is_an_error_with_the_numbers():
    """Counted in code points, after trimming."""
    most = limits.QUERY_CODE_POINTS
    assert parse(" " + "𠮷" * most + " ").clauses
    with pytest.raises(QueryError, match=f"{most + 1} .*{most}"):
        parse("a" * (most + 1))


@pytest.mark.parametrize("typed", ["***", "\x00", "- -", '""', "\u200b?"])
def test_a_query_of_symbols_only_says_so(typed):
    """B13: the answer can then say why nothing was found."""
    assert parse(typed).symbols_only
    assert not parse("🚀").symbols_only


def test_words_beyond_the_bound_are_dropped_and_named():
    """The first words stay; the answer can say what was left out."""
    found = parse(" ".join(f"w{i}" for i in range(limits.QUERY_TERMS + 2)))
    assert len(found.clauses) == limits.QUERY_TERMS
    assert found.dropped == (f"w{limits.QUERY_TERMS}", f"w{limits.QUERY_TERMS + 1}")
    assert found.whole is not None
    assert len(found.whole.tokens) == limits.QUERY_TERMS


def test_a_word_said_again_does_not_use_up_the_bound():
    """Only different words count."""
    found = parse("ferry " * (limits.QUERY_TERMS * 2) + "timetable")
    assert len(found.clauses) == 2
    assert found.dropped == ()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("ferry timetable", "ferry timetable"),
        ('the "ferry timetable" of tuesday', "the ferry timetable of tuesday"),
        ("ha ha", "ha ha"),
        ("it's", "it s"),
        ("ferry time*", "ferry time"),
        ("备份 脚本", "备份 份 脚本"),
        ("GitHub备份脚本上传失败", "github 备份 份脚 脚本 本上 上传 传失 失败"),
        ("ferry", None),
        ('"ferry timetable"', None),
        ("a OR b c", None),
        ("fer* timetable", None),
        ("评审会议", "评审 审会 会议"),
        ("评审会", None),
    ],
)
def test_whole_is_all_words_in_a_row(typed, expected):
    """For tier phrase; None when there is nothing to join. A run inside closes as the text has it."""
    whole = parse(typed).whole
    assert (None if whole is None else " ".join(whole.tokens)) == expected


def test_a_question_without_spaces_becomes_several_clauses():
    """B22: documents that have a part of it can be found, and the exact run is still asked for first."""
    assert words("GitHub备份脚本上传失败") == ["github", "备份", "份脚", "脚本", "本上", "上传", "传失", "失败"]
    assert words("会議の議事録") == ["会議", "議事 事録"]
    assert words("項目評審") == ["項目", "目評", "評審"]
    assert words("議事録") == ["議事 事録"]
    assert words("会") == ["会*"]


def test_what_was_typed_from_a_text_without_spaces_is_found_in_it():
    """Every clause and the whole of a Chinese question occur in the text that has it."""
    text = tokens("昨天说到 GitHub备份脚本上传失败 的原因")
    found = parse("GitHub备份脚本上传失败")
    assert found.whole is not None
    assert find(text, found.whole)
    assert all(find(text, clause.terms[0]) for clause in found.clauses)


@given(_QUERIES)
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_legal_query(text):
    """For every text: an answer, or an error for blank, overlong or a role that is none; every term has a token; bounds hold."""
    try:
        found = parse(text)
    except QueryError as error:
        refused = not text.strip() or len(text.strip()) > limits.QUERY_CODE_POINTS or "role:" in text
        if not refused:
            raise AssertionError(text) from error
        return
    terms = [t for clause in found.clauses for t in clause.terms] + list(found.excluded)
    terms += [] if found.whole is None else [found.whole]
    assert all(0 < len(t.tokens) <= limits.QUERY_TERMS and all(t.tokens) for t in terms)
    assert all(clause.terms for clause in found.clauses)
    assert sum(len(clause.terms) for clause in found.clauses) <= limits.QUERY_TERMS
    assert not (found.symbols_only and found.clauses)
    assert not found.excluded or found.clauses


@given(st.text(alphabet=string.ascii_letters + " .,;!?", min_size=1))
@settings(max_examples=200, deadline=None)
def test_a_pasted_line_is_found_in_itself(text):
    """For every line of words: its clauses and its whole occur in its own tokens."""
    if not text.strip():
        return
    own = tokens(text)
    found = parse(text)
    assert all(any(find(own, t) for t in clause.terms) for clause in found.clauses)
    assert found.whole is None or " OR " in text or find(own, found.whole)
