"""The measuring tools measure what they say: corpora are reproducible and shaped as described, baselines find what they should."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.baselines.floor import Floor, import_claude
from bench.baselines.plain import DIRECT, INNER, Plain

from bench import common, generate, questions, words

SMALL = 1500


@pytest.fixture(scope="module")
def corpus():
    return list(generate.sessions(SMALL))


@pytest.fixture(scope="module")
def floor(corpus, tmp_path_factory):
    floor = Floor(tmp_path_factory.mktemp("floor") / "floor.sqlite")
    for session in corpus:
        floor.add([(session.key, one.role, one.text, one.timestamp) for one in session.messages])
    yield floor
    floor.close()


def test_the_same_seed_gives_the_same_corpus(corpus):
    """Two generations are equal, message for message; another seed gives another."""
    assert list(generate.sessions(SMALL)) == corpus
    assert list(generate.sessions(SMALL, seed=7)) != corpus


def test_a_corpus_has_as_many_messages_as_asked_for_within_one_year(corpus):
    """Sizes are exact, keys distinct, times inside the year and rising within a session, roles two."""
    said = [one for session in corpus for one in session.messages]
    assert len(said) == SMALL
    assert len({session.key for session in corpus}) == len(corpus)
    assert all(generate.YEAR_BEGINS <= one.timestamp < generate.YEAR_BEGINS + generate.YEAR_MS for one in said)
    assert {one.role for one in said} == {"user", "assistant"}
    for session in corpus:
        assert [one.timestamp for one in session.messages] == sorted(one.timestamp for one in session.messages)


def test_words_fall_into_their_bands():
    """The bands are near 90 %, 30 % and 2 % of the messages, and most other words are rare."""
    frequency, total = Counter(), 0
    for session in generate.sessions(6000):
        for message in session.messages:
            total += 1
            frequency.update({word.strip(".?!:").lower() for word in message.text.split()})
    vocabulary = words.Vocabulary.of(generate.SEED)
    middle = {band: sorted(frequency[word] / total for word in getattr(vocabulary, band)) for band in ("everywhere", "often", "sometimes")}
    assert 0.82 <= middle["everywhere"][words.EVERYWHERE // 2] <= 0.95
    assert 0.25 <= middle["often"][words.OFTEN // 2] <= 0.38
    assert 0.014 <= middle["sometimes"][words.SOMETIMES // 2] <= 0.026
    assert sum(frequency[word] <= 20 for word in vocabulary.rest) > words.VOCABULARY * 0.9


def test_the_tree_hangs_together():
    """Every parent was yielded before its child, and the root and what is below it are 200 sessions, some two levels down."""
    known, tree = set(), []
    for session in generate.sessions(8000):
        if session.spawned_by is not None:
            assert session.spawned_by in known
            tree.append(session)
        known.add(session.key)
    assert len(tree) == generate.TREE - 1
    assert any(session.spawned_by != generate.TREE_ROOT for session in tree)


def test_claude_code_transcripts_are_reproducible_and_linked(tmp_path):
    """The same shape gives the same bytes; each line names the line before as its parent; tool output takes nine tenths of `TOOLS`."""
    shape = replace(generate.TOOLS, sessions=30, messages=240)
    written = generate.claude_code(tmp_path / "one", shape)
    generate.claude_code(tmp_path / "two", shape)
    files = sorted(file.relative_to(tmp_path / "one") for file in (tmp_path / "one").rglob("*.jsonl"))
    assert len(files) == written.files == 30
    said = output = size = 0
    for file in files:
        body = (tmp_path / "one" / file).read_bytes()
        assert body == (tmp_path / "two" / file).read_bytes()
        size += len(body)
        parent = None
        for line in body.splitlines():
            record = json.loads(line)
            assert record["parentUuid"] == parent
            parent = record["uuid"]
            content = record["message"]["content"]
            results = [one["content"] for one in content if one["type"] == "tool_result"] if isinstance(content, list) else []
            output += sum(map(len, results))
            said += isinstance(content, str) or content[0]["type"] == "text"
    assert said == written.messages == 240
    assert size == written.size
    assert 0.8 < output / size < 0.95


def test_the_floor_imports_what_was_said_and_no_tool_output(tmp_path):
    """Its count is the generator's, and a word of tool output is not found."""
    written = generate.claude_code(tmp_path / "files", replace(generate.TOOLS, sessions=5, messages=40))
    assert import_claude(tmp_path / "files", tmp_path / "floor.sqlite") == written.messages
    floor = Floor(tmp_path / "floor.sqlite")
    assert floor.search("ok") == []
    floor.close()


def test_plain_ranks_the_shorter_and_denser_message_first_whichever_statement(tmp_path):
    """Both statements give the same rows in bm25's order, every word is required, and the snippet holds the match."""
    plain = Plain(tmp_path / "plain.sqlite")
    rows = [
        ("the ferry " + "and more " * 40, "s1", "m1", "user", 1),
        ("ferry ferry", "s2", "m2", "user", 2),
        ("harbour", "s1", "m3", "user", 3),
    ]
    plain.add([*rows, *((f"other words {n}", "s3", f"n{n}", "user", 4) for n in range(9))])
    for statement in (DIRECT, INNER):
        plain.statement = statement
        assert [row[1] for row in plain.search("Ferry")] == ["m2", "m1"]
        assert [row[1] for row in plain.search("ferry", keys=["s1"])] == ["m1"]
        assert "ferry" in plain.search("ferry more")[0][5]
        assert plain.search("ferry harbour") == []
        assert len(plain.search("words", limit=3)) == 3
    plain.close()


@pytest.mark.parametrize("typed", ['"', "a OR b", "x*", "-y", '" " "', "NEAR(a b)", "\0", "   "])
def test_any_text_is_words_to_a_baseline(typed, floor):
    """Neither syntax nor emptiness raises."""
    assert floor.newest(typed) is not None
    assert floor.search(typed) is not None


def test_the_floor_walks_from_the_newest(floor):
    """Row numbers fall, and all matches have the word."""
    word = words.Vocabulary.of(generate.SEED).often[0]
    rows = floor.newest(word, limit=5)
    assert [row[1] for row in rows] == sorted((row[1] for row in rows), reverse=True)
    assert len(rows) == 5
    assert all(word in row[4].lower() for row in rows)


def test_questions_are_distinct_and_reproducible(corpus, floor):
    """Every class gives the same distinct questions twice, and enough of them."""

    def maker() -> questions.Maker:
        sample = questions.Sample(1)
        for session in corpus:
            sample.note(session)
        return questions.Maker(sample, floor.frequencies(), words.Vocabulary.of(generate.SEED), 1)

    first, second = maker(), maker()
    for name in questions.CLASSES:
        asked = first.of(name, 20)
        assert asked == second.of(name, 20), name
        assert len({(one.text, tuple(one.options.items())) for one in asked}) == len(asked) > 10, name


def test_a_question_of_words_from_one_message_finds_it(corpus, floor):
    """What the classes take from messages is really there: only the two classes made to miss do miss."""
    sample = questions.Sample(1)
    for session in corpus:
        sample.note(session)
    maker = questions.Maker(sample, floor.frequencies(), words.Vocabulary.of(generate.SEED), 1)
    for name in ("rare word", "90 % word", "two words", "eight words", "phrase with a rare word", "phrase of common words"):
        assert all(floor.newest(one.text.strip('"')) for one in maker.of(name, 20)), name
    assert not any(floor.newest(one.text) for one in maker.of("no match", 20))


def test_a_percentile_is_a_value_that_was_seen():
    """Nearest rank: the median of four is the second, p95 of twenty the nineteenth."""
    assert common.percentile([4, 1, 3, 2], 0.5) == 2
    assert common.percentile(range(1, 21), 0.95) == 19
    with pytest.raises(ValueError, match="no values"):
        common.percentile([], 0.5)


def test_contestants_take_turns_at_going_first():
    """No contestant always runs on what another left in the caches."""
    order: list[str] = []
    seen = common.interleave({"a": lambda _: order.append("a") or 1.0, "b": lambda _: order.append("b") or 2.0}, 4)
    assert order == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert seen == {"a": [1.0] * 4, "b": [2.0] * 4}


def test_a_report_is_written_as_promised(tmp_path, monkeypatch, capsys):
    """One line a figure, and the file has figures, machine and commit."""
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    report = common.Report("sample")
    report.add("search · p50", 1.25, "ms", baseline=5.0, ratio=4.0)
    whole = json.loads(report.close().read_text(encoding="utf-8"))
    assert capsys.readouterr().out == "search · p50  1.25 ms  baseline 5  ratio 4\n"
    assert whole["figures"] == [{"name": "search · p50", "value": 1.25, "unit": "ms", "baseline": 5.0, "ratio": 4.0}]
    assert set(whole) == {"figures", "machine", "commit"}
