"""Claims about search: what is asked in which words finds what was said, by the rules of contract.md §2, §3 and §5."""

from __future__ import annotations

import dataclasses
import json
import string
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.errors import InputError, NotFoundError, QueryError, StoreDamagedError
from wesaid.service import opening, reconciling, searching, wire, writing
from wesaid.service.methods import SearchParams
from wesaid.values import OPERATOR, Caller

MAIN = "agent:main:main"
OTHER = "agent:main:other"
NOW = 1_772_359_200_000
MINUTE = 60_000
DAY = 24 * 60 * MINUTE


def response_bytes(answer):
    return len(json.dumps(answer, ensure_ascii=False).encode())


# ── words find what was said ─────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("明天下午三点开项目评审会议讨论排期", "评审"),
        ("明天下午三点开项目评审会议讨论排期", "会"),
        ("明天下午三点开项目评审会议讨论排期", "项目评审"),
        ("明天下午三点开项目评审会议讨论排期", "明天下午三点开项目评审会议讨论排期"),
        ("chúng tôi lái xe trên Đường đến Huế", "duong den hue"),
        ("chúng tôi lái xe trên Đường đến Huế", "đường đến huế"),
        ("it's broken in gateway/run.py again", "gateway/run.py"),
        ("it's broken in gateway/run.py again", "it's"),
        ("it's broken in gateway/run.py again", "it’s"),
        ("see DEC-0054 and RFC-0011", "DEC-0054"),
        ("see DEC-0054 and RFC-0011", '"DEC-0054"'),
        ("see DEC-0054 and RFC-0011", "dec 0054"),
        ("deploy 🚀 done, then 🚀 deploy", "🚀 deploy"),
        ("deploy 🚀 done", "🚀"),
        ("설정을 저장했습니다", "설정"),
        ("회의를 미뤘다", "회의"),
        ("開始ユーザー認証完了", "ﾕｰｻﾞｰ"),
        ("開始ﾕｰｻﾞｰ認証完了", "ユーザー"),
        ("เราย้ายฐานข้อมูลไปแล้ว", "ฐานข้อมูล"),
        ("die Straße ist gesperrt", "strasse"),
        ("die strasse ist gesperrt", "Straße"),
        ("𠮷野家で会う", "𠮷"),
        ("κόσμος ahead", "κοσμος"),
        ("un impo\u0302t de plus", "impôt"),
        ("un impôt de plus", "impo\u0302t"),
        ("call atomic_write_json() first", "atomic_write_json"),
        ("call atomic_write_json() first", "atomic write json"),
        ("call atomic_write_json() first", "write_json"),
        ("TODO: fix the cache", "TODO: fix"),
        ("100% sure", "100%"),
        ("we set the reminder on the invoice job", "invoice reminder"),
        ("we set the reminder on the invoice job", "reminder invoice"),
        ("the kubernetes upgrade failed", "kubern*"),
        ("备份脚本今晚跑", "GitHub备份脚本上传失败"),
    ],
)
def test_words_of_every_writing_find_theirs(lab, said, asked):
    """Among other messages, what was asked gives the message that says it, first."""
    lab.say("nothing of the kind was said here, 全く別の話です", key=OTHER)
    wanted = lab.say(said)
    lab.say("还有别的事情 và chuyện khác", role="assistant", key=OTHER)
    assert lab.ids(asked)[:1] == [wanted]


@pytest.mark.parametrize("asked", ["50%", "ops@example.com", "#1234", "ok?", "a,b", "c++", "issue:123", "don't", "¥300", "a_b"])
def test_what_people_type_with_signs_in_it_finds_theirs(lab, asked):
    """The queries of the field reports, each against its own message and one that is like it."""
    lab.say("alb 1000 sure, open a bid, issue one, axb", key=OTHER)
    wanted = lab.say(f"we said {asked} there")
    lab.say("nothing else")
    assert lab.ids(asked)[0] == wanted


@pytest.mark.parametrize(("asked", "first"), [("má", "má"), ("mà", "mà"), ("ma", None), ("đường", "đường"), ("thé", "thé")])
def test_marks_that_were_typed_count_and_those_that_were_not_do_not(lab, asked, first):
    """Without marks everything of these letters is found; with marks the exact word comes first, however old."""
    texts = ["má", "mà", "ma", "đường", "duong", "thé", "the"]
    ids = {text: lab.say(f"from {text} onwards", key=f"agent:main:s{number}") for number, text in enumerate(texts)}
    found = lab.ids(asked)
    if first is None:
        assert set(found) == {ids["má"], ids["mà"], ids["ma"]}
    else:
        assert found[0] == ids[first]


@pytest.mark.parametrize(
    "question",
    [
        "when does the ferry leave on Sundays?",
        "What did we decide about the Sunday ferry?",
        "how late is the last ferry on sunday, please",
        "which database did we move the ferry timetable to?",
    ],
)
def test_a_question_in_plain_language_finds_its_answer(lab, question):
    """Function words ask for nothing; the rare ones lead, and what is missing is said."""
    answer = lab.say("on sunday the last ferry leaves at nine; its timetable is in the Postgres database", role="assistant")
    for number in range(20):
        lab.say(f"the weather report number {number} is what it is, and how it was on the day", key=f"agent:main:weather{number}")
    found = lab.search(question)
    assert found["results"][0]["messageId"] == answer
    assert found["tier"] in {"phrase", "all", "some"}


def test_what_is_missing_is_named(lab):
    """A loose match tells which words it lacks, and its tier is the answer's."""
    message = lab.say("the ferry leaves at nine")
    found = lab.search("ferry submarine nine")
    [hit] = found["results"]
    assert (hit["messageId"], hit["match"], found["tier"]) == (message, "some", "some")
    assert hit["missing"] == ["submarine"]


def test_strict_matches_come_first_and_are_named(lab):
    """Words next to each other before words anywhere before some of the words."""
    some = lab.say("the timetable hangs in the hall", key="agent:main:some")
    every = lab.say("the timetable of the ferry", key="agent:main:all")
    phrase = lab.say("our ferry timetable is old", key="agent:main:phrase")
    found = lab.search("ferry timetable")
    assert [(hit["messageId"], hit["match"]) for hit in found["results"]] == [(phrase, "phrase"), (every, "all"), (some, "some")]
    assert found["tier"] == "phrase"


PUNCTUATION_SAID = "it is alpha" + "".join(f" be{mark}ta{number}" for number, mark in enumerate(string.punctuation))


@pytest.mark.parametrize("mark", string.punctuation)
def test_every_ascii_punctuation_character_is_harmless(lab, mark):
    """Alone, doubled, around a word and inside one: never an error, and the words beside it find theirs."""
    number = string.punctuation.index(mark)
    wanted = lab.say(PUNCTUATION_SAID)
    for query in (mark, mark * 3, f" {mark} {mark} "):
        found = lab.search(query)
        assert found["results"] == []
        assert "symbols" in found["diagnostics"]["hint"]
    for query in (f"alpha {mark}", f"{mark} alpha", f"alpha{mark}", f"be{mark}ta{number}", f"alpha {mark}{mark} be{mark}ta{number}"):
        assert lab.ids(query) == [wanted], query
    if mark != "-":
        assert lab.ids(f"{mark}alpha") == [wanted]


@pytest.mark.parametrize(
    "query",
    [
        "alpha AND",
        "OR",
        "NOT alpha",
        "NEAR(alpha beta)",
        "rowid:1 alpha",
        '"alpha',
        "alpha\x00",
        "alpha*",
        "scope:ru",
        "s1",
        "ru",
        "-",
        "--",
        '""',
        '"" alpha',
        "^alpha",
        "{text}: alpha",
    ],
)
def test_words_of_other_query_languages_are_words(lab, query):
    """Nothing typed becomes syntax of the engine, and no internal word matches."""
    wanted = lab.say("alpha beta gamma")
    found = lab.ids(query)
    assert found in ([], [wanted])
    assert bool(found) == ("alpha" in query)


def test_a_field_that_does_not_exist_is_a_word_with_a_colon(lab):
    """`text:alpha` asks for these two words next to each other, and never for a column."""
    lab.say("alpha beta gamma")
    assert lab.ids("text:alpha") == lab.ids("t:alpha") == []
    wanted = lab.say("see text: alpha")
    assert lab.ids("text:alpha") == [wanted]


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def talk(request, tmp_path_factory):
    """One small home for many questions."""
    made = opening.memory_home() if request.param == "memory" else opening.open_home(tmp_path_factory.mktemp("talk"))
    with made as home:
        for number, text in enumerate(["alpha beta it's 会议 🚀", PUNCTUATION_SAID, "the ferry", "Đường đến Huế"]):
            writing.append(home, OPERATOR, f"agent:main:s{number}", [{"role": "user", "text": text}])
        yield home


@given(query=st.text(max_size=60) | st.text(alphabet=string.punctuation + " ab*\x00会é", max_size=30))
@example(query="x" * limits.QUERY_CODE_POINTS)
@example(query="-" * limits.QUERY_CODE_POINTS)
@example(query='"' * limits.QUERY_CODE_POINTS)
@example(query="会" * limits.QUERY_CODE_POINTS)
@example(query="a " * (limits.QUERY_CODE_POINTS // 2))
@example(query="🚀" * 2000)
@example(query="x" * (limits.QUERY_CODE_POINTS + 1))
@example(query="after:nonsense")
@example(query="role:nobody ferry")
@example(query="session:nobody ferry")
@example(query="a\ud800b")
@settings(max_examples=150)
def test_any_text_is_a_legal_question(talk, query):
    """Nothing but our own input errors (blank, too long, a field with a bad value, or naming what is not there), and a bounded answer."""
    try:
        page = searching.search(talk, OPERATOR, SearchParams(query=query))
    except (InputError, NotFoundError):
        return
    assert response_bytes(wire.page_json(page)) <= limits.RESPONSE_BYTES


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "x" * (limits.QUERY_CODE_POINTS + 1)])
def test_a_blank_or_too_long_query_is_a_query_error(lab, query):
    """Said by its own code, with what is allowed."""
    with pytest.raises(QueryError):
        lab.search(query)


# ── filters ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_fields_in_the_query_are_the_parameters_and_a_parameter_wins(lab):
    """`role:`, `session:`, `agent:` narrow as the parameters do; given both, the parameter counts."""
    human = lab.say("ferry one")
    machine = lab.say("ferry two", role="assistant")
    other = lab.say("ferry three", key=OTHER)
    foreign = lab.say("ferry four", key="agent:work:main")
    assert set(lab.ids("ferry")) == {human, machine, other, foreign}
    assert lab.ids("ferry role:assistant") == lab.ids("ferry", role="assistant") == [machine]
    assert lab.ids("ferry role:assistant", role="user", agentIds=["main"], sessionKey=MAIN) == [human]
    assert lab.ids(f"ferry session:{OTHER}") == lab.ids("ferry", sessionKey=OTHER) == [other]
    assert set(lab.ids(f"ferry session:{OTHER}", sessionKey=MAIN)) == {human, machine}
    assert lab.ids("ferry agent:work") == lab.ids("ferry", agentIds=["work"]) == [foreign]
    assert lab.ids("ferry agent:main", agentIds=["work"]) == [foreign]
    assert lab.ids("ferry after:2020-01-01", after="2030-01-01") == []
    assert len(lab.ids("ferry before:2020-01-01", before="2030-01-01")) == 4


def test_a_session_of_another_agent_than_the_one_named_is_not_found(lab):
    """Contradicting conditions are an error, not an empty answer of the wrong kind."""
    lab.say("ferry one")
    lab.say("ferry two", key="agent:work:main")
    with pytest.raises(NotFoundError):
        lab.search("ferry", sessionKey=MAIN, agentIds=["work"])


def test_after_is_inclusive_and_before_is_exclusive(lab):
    """To the millisecond, by the row's own time."""
    at = 1_767_225_600_000  # 2026-01-01T00:00:00Z
    before, exactly, after = (lab.say(f"ferry {number}", at=at + number) for number in (-1, 0, 1))
    assert set(lab.ids("ferry", after="2026-01-01T00:00:00Z")) == {exactly, after}
    assert set(lab.ids("ferry", before="2026-01-01T00:00:00Z")) == {before}
    assert set(lab.ids("ferry", after="2026-01-01", timeZone="UTC")) == {exactly, after}
    assert set(lab.ids("ferry", after="2026-01-01", timeZone="Asia/Tokyo")) == {before, exactly, after}
    assert lab.ids("ferry", after="2026-01-01", timeZone="America/New_York") == []
    assert lab.ids("ferry after:2026-01-01T00:00:00Z before:2026-01-01T00:00:00.001Z") == [exactly]


def test_relative_times_count_from_now(lab):
    """`7d` is seven days before the question is asked."""
    now = lab.home.now()
    old, new = lab.say("ferry old", at=now - 8 * DAY), lab.say("ferry new", at=now - 6 * DAY)
    assert lab.ids("ferry", after="7d") == [new]
    assert lab.ids("ferry before:7d") == [old]


def test_many_messages_of_one_moment_keep_the_time_filters_exact(lab):
    """A burst in one second moves no message across a bound."""
    burst = lab.say_all([f"ferry burst{number}" for number in range(40)], at=NOW, step=0)
    late = lab.say("ferry late", at=NOW + 1000)
    assert set(lab.ids("ferry", sessionKey=MAIN, limit=25, after="2026-03-01T10:00:01Z")) == {late}
    found = lab.page("ferry", session_key=MAIN, limit=25, before="2026-03-01T10:00:00.001Z")
    assert {hit.message_id for hit in found.hits} <= set(burst)
    assert len(found.hits) == 25


@pytest.mark.parametrize("field", ["after", "before", "timeZone"])
def test_a_time_that_is_none_is_an_input_error(lab, field):
    """Named by its field."""
    with pytest.raises(InputError) as caught:
        lab.search("ferry", **{field: "whenever/never"})
    assert field in str(caught.value.as_json())


def test_excluded_sessions_and_words_are_left_out(lab):
    """`excludeSessionKeys` and `-word` narrow, also what a title would bring in; a query of exclusions only is text."""
    first = lab.say("ferry one")
    second = lab.say("ferry two", key=OTHER)
    assert lab.ids("ferry", excludeSessionKeys=[MAIN]) == [second]
    assert lab.ids("ferry", excludeSessionKeys=[MAIN, OTHER]) == []
    assert lab.ids("ferry -two") == [first]
    assert lab.ids("ferry -one -two") == []
    assert lab.ids("-two") == [second]


def test_a_folder_and_a_tool_narrow_by_session(lab):
    """`project` is a folder with what lies below it, not a beginning of a name."""
    found = {}
    for key, tool, project in (("a", "codex", "/work/ferry"), ("b", "codex", "/work/ferry/docs"), ("c", "claude-code", "/work/ferry2")):
        full = f"agent:main:{key}"
        found[key] = lab.say("the walrus", key=full)
        with lab.home.store("main").writing() as writer:
            writer.patch(full, dataclasses.replace(writer.session(full).facts, tool=tool, project=project))
    assert set(lab.ids("walrus", project="/work/ferry")) == set(lab.ids("walrus project:/work/ferry/")) == {found["a"], found["b"]}
    assert set(lab.ids("walrus", tool="codex")) == set(lab.ids("walrus tool:codex")) == {found["a"], found["b"]}
    assert lab.ids("walrus", tool="codex", project="/work/ferry/docs") == [found["b"]]
    assert lab.ids("walrus", project="/nowhere") == []


# ── order, bounds, shape ─────────────────────────────────────────────────────────────────────────────────────────
def test_newest_and_oldest_go_by_each_messages_own_time(lab):
    """Whatever the order of writing, to the millisecond, over sessions and agents."""
    times = [NOW + offset for offset in (5, 1, 4, 3, 900, 2)]
    keys = [MAIN, OTHER, "agent:work:main"]
    ids = {at: lab.say(f"ferry at{number}", key=keys[number % 3], at=at) for number, at in enumerate(times)}
    assert lab.ids("ferry", order="oldest") == [ids[at] for at in sorted(times)]
    assert lab.ids("ferry", order="newest") == [ids[at] for at in sorted(times, reverse=True)]
    assert lab.ids("ferry", order="newest", limit=2) == [ids[at] for at in sorted(times, reverse=True)[:2]]


def test_by_time_nothing_loose_is_given_and_titles_do_not_break_the_order(lab):
    """`phrase` and `all` only; what is found by a title stands at its own time."""
    lab.say("only the harbour", key="agent:main:loose")
    early = lab.say("ferry harbour", at=NOW)
    titled = lab.say("hello there", key=OTHER, at=NOW + DAY)
    writing.patch(lab.home, OPERATOR, OTHER, label="ferry harbour")
    found = lab.search("ferry harbour", order="newest")["results"]
    assert {hit["match"] for hit in found} <= {"phrase", "all"}
    assert early in [hit["messageId"] for hit in found]
    assert [hit["timestamp"] for hit in found] == sorted((hit["timestamp"] for hit in found), reverse=True)
    assert {hit["messageId"] for hit in found} <= {early, titled}


def test_a_session_gives_three_results_and_counts_the_rest_unless_it_is_named(lab):
    """`moreInSession` counts; `sessionKey` and `session:` lift the bound."""
    lab.say_all([f"ferry number{number}" for number in range(7)])
    other = lab.say("ferry elsewhere", key=OTHER)
    found = lab.search("ferry")["results"]
    assert len([hit for hit in found if hit["sessionKey"] == MAIN]) == 3
    assert {hit.get("moreInSession") for hit in found if hit["sessionKey"] == MAIN} >= {4}
    assert other in [hit["messageId"] for hit in found]
    assert len(lab.ids("ferry", sessionKey=MAIN)) == 7
    assert len(lab.ids(f"ferry session:{MAIN}")) == 7


def test_a_snippet_is_short_and_shows_what_matched(lab):
    """At most 300 code points, wherever in a long message the match lies, in any writing."""
    for number, word in enumerate(["needle", "评审", "🚀", "ฐานข้อมูล"]):
        for place in (0, 1500, 2990):
            filler = "hay stack " * 300
            lab.say(filler[:place] + f" {word} " + filler[place:], key=f"agent:main:s{number}-{place}")
        found = lab.search(word)["results"]
        assert len(found) == 3
        for hit in found:
            assert word in hit["snippet"]
            assert len(hit["snippet"]) <= limits.SNIPPET_CODE_POINTS
    page = lab.page("needle")
    for hit in page.hits:
        assert [hit.snippet[start:end] for start, end in hit.marks] == ["needle"]


@pytest.mark.parametrize("detail", ["snippet", "full", "index"])
@pytest.mark.parametrize(
    "filler", ["long words ", "会议讨论", "🚀 ", "\x01\x02 ", '"\\" '], ids=["latin", "chinese", "emoji", "control", "quotes"]
)
def test_a_response_of_25_long_results_keeps_to_its_bytes(lab, detail, filler):
    """32 KiB of UTF-8, whole results only, and it says that something is missing."""
    for number in range(25):
        key = f"agent:main:{'k' * 150}{number}"
        lab.say("ferry " + filler * 3000, key=key)
        writing.patch(lab.home, OPERATOR, key, label="label " + filler.strip("\x01\x02 ") * 10)
    found = lab.search("ferry", limit=25, detail=detail, context=3)
    assert response_bytes(found) <= limits.RESPONSE_BYTES
    assert 1 <= len(found["results"]) <= 25
    if len(found["results"]) < 25:
        assert found["truncated"] is True


@pytest.mark.parametrize("length", [1, 60])
def test_a_question_of_many_words_cannot_push_a_response_over_its_bytes(lab, length):
    """Ignored words are echoed, so they count: 4 096 code points of four bytes each."""
    for number in range(25):
        lab.say("ferry " + "会议讨论" * 700, key=f"agent:main:s{number}")
    words = [chr(0x20000 + number) * length for number in range((limits.QUERY_CODE_POINTS - 10) // (length + 1))]
    found = lab.search("ferry " + " ".join(words), limit=25, detail="full")
    assert response_bytes(found) <= limits.RESPONSE_BYTES


def test_the_levels_of_detail(lab):
    """`index`: no text; `full`: the whole redacted message within its bound; context stays beside each."""
    text = "ferry " + "and so on " * 100 + " password=hunter2hunter2"
    lab.say(text)
    assert lab.search("ferry", detail="index")["results"][0]["snippet"] == ""
    full = lab.search("ferry", detail="full")["results"][0]["snippet"]
    assert full == text.replace("hunter2hunter2", "[redacted:password]")
    lab.say("walrus " + "会议" * 20_000, key=OTHER)
    long = lab.search("walrus", detail="full")["results"][0]["snippet"]
    assert limits.MESSAGE_FULL_BYTES - 8 <= len(long.encode()) <= limits.MESSAGE_FULL_BYTES


def test_context_gives_the_neighbours_on_each_side(lab):
    """In order, redacted and cut, without the hit itself, and never across to what was abandoned."""
    ids = lab.say_all(["zero", "one", "two password=hunter2hunter2", "the ferry", "four " * 200, "five", "six"])
    [hit] = lab.search("ferry", context=2)["results"]
    assert [near["messageId"] for near in hit["context"]] == [ids[1], ids[2], ids[4], ids[5]]
    assert hit["context"][1]["text"] == "two password=[redacted:password]"
    assert len(hit["context"][2]["text"]) <= limits.SNIPPET_CODE_POINTS
    assert [near["role"] for near in hit["context"]] == ["user"] * 4
    writing.rewind(lab.home, OPERATOR, MAIN, ids[4])
    [hit] = lab.search("ferry", context=3)["results"]
    assert [near["messageId"] for near in hit["context"]] == [*ids[:3], ids[4]]
    [hit] = lab.search("zero", context=1)["results"]
    assert [near["messageId"] for near in hit["context"]] == [ids[1]]
    assert "context" not in lab.search("zero")["results"][0]


def test_a_session_is_found_by_its_title_or_label_alone(lab):
    """Its first human message stands for it, with `match` of the title."""
    lab.say("how can I help?", role="assistant")
    first = lab.say("hello")
    writing.patch(lab.home, OPERATOR, MAIN, label="lighthouse keeper")
    for query, match in (("lighthouse", "phrase"), ("keeper lighthouse", "all")):
        [hit] = lab.search(query)["results"]
        assert (hit["messageId"], hit["sessionKey"], hit["match"]) == (first, MAIN, match)
    assert lab.ids("lighthouse", excludeSessionKeys=[MAIN]) == []
    assert lab.ids("lighthouse", caller=Caller("agent:main:stranger")) == []


def test_titles_and_snippets_are_redacted(lab):
    """A secret in the first line is in no title, snippet, context or list."""
    secret = "sk-AbCd3fGh1jKlMn0pQrStUvWxYz"
    lab.say(f"ferry key {secret} is the password")
    lab.say("the harbour")
    for answer in (lab.search("ferry", context=3), lab.search("harbour", context=3), lab.search("ferry", detail="full"), lab.history()):
        assert secret not in json.dumps(answer)
    assert lab.search("ferry")["results"][0]["title"] == "ferry key [redacted:sk-key] is the password"
    assert secret not in lab.exported()


def test_a_pasted_line_with_a_key_finds_its_message_and_the_key_alone_finds_nothing_more_than_the_placeholder(lab):
    """The query passes the redactor first; parts of a key find nothing, so that search is no oracle for it."""
    secret = "sk-AbCd3fGh1jKlMn0pQrStUvWxYz"
    line = f"export OPENAI_KEY={secret} # for the ferry"
    wanted = lab.say(line)
    other = lab.say("another key sk-Zyxw9vUts8rQpOn7mLkJiHgFeD here", key=OTHER)
    assert lab.ids(line)[0] == wanted
    alone = lab.search(secret)
    assert set(lab.ids(secret)) == set(lab.ids("[redacted:sk-key]")) == {wanted, other}
    assert secret not in json.dumps(alone)
    for part in (secret[3:], secret[3:13], secret[:10] + "*", "AbCd3fGh1jKl*", secret[3:].lower()):
        assert lab.ids(part) == [], part


def test_own_sessions_and_echoes_come_last(lab):
    """The caller's own session, and sessions whose only human text is the question, rank below every other answer."""
    lab.say("ferry timetable please", key="agent:main:echo")
    lab.say("the ferry timetable, as I said myself", key="agent:main:me")
    answer = lab.say("some timetable of a ferry", key="agent:main:answer")
    found = lab.search("ferry timetable please", caller=Caller("agent:main:me"))
    assert found["results"][0]["current"] is True
    lab.home.settings = dataclasses.replace(lab.home.settings, sessions_visibility="agent")
    results = lab.search("ferry timetable please", caller=Caller("agent:main:me"))["results"]
    assert results[0]["messageId"] == answer
    assert [hit.get("current", False) for hit in results].count(True) == 1


# ── what a caller may not see ────────────────────────────────────────────────────────────────────────────────────
def test_ten_thousand_newer_matches_that_a_caller_may_not_see_hide_nothing(lab):
    """Policy comes before limits: limit 1 gives the one older message that he may see."""
    wanted = lab.say("ferry long ago", key="agent:main:me", at=NOW - DAY)
    many = (
        10_000 if lab.home.path.is_absolute() else limits.CANDIDATES + 1
    )  # the memory engine scans, and takes minutes for the larger number
    lab.say_all(["ferry here"] * many, key="agent:main:stranger", step=1)
    for order in ("relevance", "newest", "oldest"):
        found = lab.search("ferry", caller=Caller("agent:main:me"), limit=1, order=order)
        assert [hit["messageId"] for hit in found["results"]] == [wanted]
        assert "truncated" not in found
    assert lab.ids("fer*", caller=Caller("agent:main:me"), limit=1) == [wanted]


def test_hidden_words_do_not_decide_what_a_prefix_means(lab):
    """More words of strangers than a prefix may stand for do not push out the visible one."""
    wanted = lab.say("zqvisible", key="agent:main:me")
    lab.say_all([" ".join(f"zq{a}{b}" for b in string.ascii_lowercase) for a in string.ascii_lowercase] * 2, key="agent:main:stranger")
    for prefix in ("z*", "zq*", "zqv*"):
        assert lab.ids(prefix, caller=Caller("agent:main:me")) == [wanted]


WORDS = st.sampled_from(["ferry", "harbour", "timetable", "nine", "the", "会议", "ferries", "key sk-AbCd3fGh1jKlMn0pQrStUvWxYz"])
TEXT = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
HIDDEN = ["agent:main:stranger", "agent:main:subagent:theirs", "agent:work:main", "agent:aaa:main"]


def asked_with(engine, mine, hidden, query, params):
    """The JSON of one search by a caller who sees its own session only, beside hidden sessions."""
    with tempfile.TemporaryDirectory() as folder:
        made = opening.memory_home() if engine == "memory" else opening.open_home(Path(folder))
        with made as home:
            home.now = lambda: NOW + DAY
            home.new_id = lambda: "id-of-mine"
            for number, text in enumerate(mine):
                message = {"role": "user", "text": text, "timestamp": NOW + number * MINUTE, "idempotencyKey": f"mine{number}"}
                writing.append(home, OPERATOR, "agent:main:me", [message])
            home.new_id = lambda: "id-of-theirs"
            for number, (key, text, at) in enumerate(hidden):
                message = {"role": "assistant", "text": text, "timestamp": NOW + at * MINUTE, "idempotencyKey": f"theirs{number}"}
                writing.append(home, OPERATOR, key, [message])
                writing.patch(home, OPERATOR, key, label=text)
            page = searching.search(home, Caller("agent:main:me"), SearchParams(query=query, **params))
            return json.dumps(wire.page_json(page)).encode()


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
@given(
    mine=st.lists(TEXT, min_size=1, max_size=6),
    hidden=st.lists(st.tuples(st.sampled_from(HIDDEN), TEXT, st.integers(-5, 20)), min_size=1, max_size=8),
    query=TEXT | st.sampled_from(["fer*", '"ferry harbour"', "ferry -nine", "ferry OR nine", "会"]),
    params=st.fixed_dictionaries(
        {"order": st.sampled_from(["relevance", "newest", "oldest"]), "limit": st.sampled_from([1, 10]), "context": st.sampled_from([0, 2])}
    ),
)
@settings(max_examples=30)
def test_a_hidden_sessions_presence_changes_no_byte_of_an_answer(engine, mine, hidden, query, params):
    """Results, scores, counts, tiers, hints: all of it is the same with and without what the caller may not see."""
    assert asked_with(engine, mine, hidden, query, params) == asked_with(engine, mine, [], query, params)


# ── trouble ──────────────────────────────────────────────────────────────────────────────────────────────────────
def break_agent(lab, agent="broken"):
    folder = lab.home.path / "agents" / agent
    folder.mkdir(parents=True)
    (folder / "agent.sqlite").write_bytes(b"this is no database at all " * 500)


def test_an_agent_whose_database_cannot_be_read_does_not_silence_the_others(disk):
    """The others' results, `failedAgents` and a hint that says so."""
    wanted = disk.say("the ferry leaves at nine")
    break_agent(disk)
    found = disk.search("ferry")
    assert [hit["messageId"] for hit in found["results"]] == [wanted]
    assert found["diagnostics"]["failedAgents"] == ["broken"]
    assert "broken" in found["diagnostics"]["hint"]


def test_an_unreadable_agent_does_not_silence_a_session_that_asks(disk):
    """A caller's lineage is looked up over all agents; one that cannot be read must not take its own sessions away, or be named to it."""
    wanted = disk.say("the ferry leaves at nine")
    break_agent(disk)
    found = disk.search("ferry", caller=Caller(MAIN))
    assert [hit["messageId"] for hit in found["results"]] == [wanted]
    assert "broken" not in json.dumps(found)


def test_an_unreadable_agent_that_was_asked_for_is_an_error(disk):
    """Nothing else could answer."""
    disk.say("the ferry leaves at nine")
    break_agent(disk)
    with pytest.raises(StoreDamagedError):
        disk.search("ferry", agentIds=["broken"])


def test_a_stale_session_is_rebuilt_by_the_search_that_may_wait(disk):
    """With waitMs 0 it says so and finds the common beginning; with 2000 it is complete, over several slices."""
    first = disk.say("the ferry leaves at nine")
    long = disk.say_all([f"walrus number{number}" for number in range(limits.REBUILD_SLICE_ROWS + 50)])
    writing.rewind(disk.home, OPERATOR, MAIN, first)
    while reconciling.reconcile(disk.home, seconds=2):
        pass
    assert disk.ids("walrus", waitMs=0) == []
    writing.switch(disk.home, OPERATOR, MAIN, long[-1])
    at_once = disk.search("walrus", waitMs=0)
    assert at_once["indexing"] is True
    assert at_once["diagnostics"]["staleSessions"] == 1
    assert disk.ids("ferry", waitMs=0) == [first]
    later = disk.search("walrus", waitMs=2000, sessionKey=MAIN, limit=25)
    while "indexing" in later:  # a slow machine needs another search, never more than there are slices
        later = disk.search("walrus", waitMs=2000, sessionKey=MAIN, limit=25)
    assert len(later["results"]) == 25
    assert later["diagnostics"]["staleSessions"] == 0
    assert disk.ids(f"number{limits.REBUILD_SLICE_ROWS + 49}", waitMs=0) == [long[-1]]


def test_an_empty_answer_says_what_would_widen_it(lab):
    """One sentence, about this question: no sessions, filters, scope, exclusions, unknown words."""
    assert "import" in lab.search("ferry")["diagnostics"]["hint"]
    lab.say("the ferry leaves at nine", key="agent:main:me")
    for params, word in (
        ({"query": "walrus"}, "words"),
        ({"query": "ferry", "role": "assistant"}, "filters"),
        ({"query": "walrus", "sessionKey": "agent:main:me"}, "sessionKey"),
        ({"query": "ferry -nine"}, "excluded"),
        ({"query": "walrus", "caller": Caller("agent:main:me")}, "scope"),
    ):
        found = lab.search(**params)
        assert found["results"] == []
        assert found["tier"] == "none"
        assert word in found["diagnostics"]["hint"]
    assert "hint" not in lab.search("ferry")["diagnostics"]
    assert lab.search("the ferry nine")["diagnostics"]["ignored"] == ["the"]


def test_two_chinese_words_typed_as_one_find_a_message_that_has_both(lab):
    """Nobody types spaces: 迁移计划 finds 数据库迁移的计划, as a looser tier than the exact run would be."""
    said = lab.say("我们昨天讨论了数据库迁移的计划和回滚步骤")
    found = lab.search("迁移计划")
    assert [hit["messageId"] for hit in found["results"]] == [said]
    assert found["tier"] == "some"


def test_a_query_of_filters_only_says_that_words_are_needed(lab):
    """`role:user` alone asks for nothing."""
    lab.say("the ferry leaves at nine")
    assert "word" in lab.search("role:user")["diagnostics"]["hint"]
