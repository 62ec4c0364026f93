"""Folding: when two spellings are the same word, and that index text is always legal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wesaid import limits
from wesaid.rules.fold import aligned, find, fold, marked, term, tokens, unsegmented
from wesaid.values import Term

# Hypothesis seldom strikes the interesting neighbourhoods by itself.
_AWKWARD = "eEиИoO\u0301\u0306\u0308\u0323\u0345\u3099\u200b\u200d\u00ad\ufe0fカガ가각น้ำकि़ـسَלוֹßİıſﬁﾞﾊ½™²🚀👍🏽éй评审本 _-.'AbC9\x00\ud800"
_TEXTS = st.one_of(st.text(), st.text(alphabet=_AWKWARD), st.text(alphabet=st.characters(max_codepoint=0x17FF)))
_SPACED = st.text(alphabet=st.characters(max_codepoint=0x0DFF))


def _finds(query: str, text: str) -> bool:
    wanted = term(query)
    return wanted is not None and bool(find(tokens(text), wanted))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("duong den hue", "Đường đến Huế"),
        ("đường", "ĐƯỜNG một chiều"),
        ("ma", "má"),
        ("ma", "mà"),
        ("strasse", "die Straße"),
        ("STRASSE", "die Straße"),
        ("oresund", "Øresund"),
        ("lodz", "Łódź"),
        ("istanbul", "İstanbul"),
        ("ISTANBUL", "ıstanbul"),
        ("aether", "Æther"),
        ("oeuvre", "œuvre"),
        ("thorn", "Þorn"),
        ("κοσμος", "κόσμος"),
        ("ΚΟΣΜΟΣ", "κόσμος"),
        ("σοφος", "ΣΟΦΟΣ"),
        ("αρχη", "ἀρχῇ"),
        ("елка", "Ёлка"),
        ("замок", "за\u0301мок"),
        ("سلام", "سَلَام"),
        ("انا", "أنا"),
        ("שלום", "שָׁלוֹם"),
        ("cafe", "cafe\u0301"),
        ("impôt", "impo\u0302t"),
        ("impo\u0302t", "impôt"),
        ("file", "ﬁle"),
        ("finance", "ﬁnance"),
        ("unicode", "𝔘nicode"),
        ("2026", "٢٠٢٦"),
        ("abc", "ＡＢＣ"),
        ("github", "GitHub™ is down"),
    ],
)
def test_accents_case_and_compatibility_forms_do_not_hide_a_word(query, text):
    """B12, B26, B27: what a person types without marks finds the marked word, and the reverse."""
    assert _finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [("и", "й"), ("カス", "ガス"), ("ᄀ", "가"), ("ฐาน", "ฐน"), ("कताब", "किताब"), ("ї", "і"), ("は", "ば")],
)
def test_marks_that_make_another_letter_stay(query, text):
    """Stripping by category would turn й into и, ガ into カ and Hangul into jamo, and cut Thai and Hindi words."""
    assert not _finds(query, text)
    assert not _finds(text, query)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        *((q, "明天下午三点开项目评审会议讨论排期") for q in ("评审", "项目评审", "会", "期", "明天下午三点开项目评审会议讨论排期")),
        ("备份脚本", "GitHub备份脚本上传失败"),
        ("github备份", "GitHub备份脚本上传失败"),
        ("ユーザー", "開始ﾕｰｻﾞｰ認証完了"),
        ("ﾕｰｻﾞｰ", "開始ユーザー認証完了"),
        ("ㄓㄨ", "ㄓㄨㄛ"),
        ("설정", "설정을 바꿨다"),
        ("회의", "회의를 했다"),
        ("𠮷", "𠮷野家"),
        ("野家", "𠮷野家"),
        ("ฐานข้อมูล", "เราย้ายฐานข้อมูลเมื่อวาน"),
        ("ມື້", "ມື້ນີ້ຝົນຕົກ"),
        ("ទិន្នន័យ", "មូលដ្ឋានទិន្នន័យថ្មី"),
        ("人々", "多くの人々が"),
        ("한", "\u1112\u1161\u11ab국"),
    ],
)
def test_a_word_inside_a_sentence_without_spaces_is_found(query, text):
    """B20, B23: one, two and more characters, in every script that is written without spaces."""
    assert _finds(query, text)


def test_letters_that_compose_once_an_invisible_character_is_gone_are_composed():
    """A joiner between a letter and its mark must not make another word of it."""
    assert tokens("न\u200d\u093c") == tokens("न\u093c") == ("\u0929",)
    assert _finds("가", "\u1100\u200d\u1161")


def test_a_run_without_spaces_becomes_pairs_and_its_last_character():
    """A pair cannot begin at the last character, so that one is a token by itself; scripts with spaces cut the run."""
    assert tokens("评审会议") == ("评审", "审会", "会议", "议")
    assert tokens("GitHub备份脚本") == ("github", "备份", "份脚", "脚本", "本")
    assert tokens("かな漢字") == ("かな", "な漢", "漢字", "字")
    assert tokens("会") == ("会",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("atomic_write_json", "atomic write json"),
        ("DEC-0054", "dec 0054"),
        ("it's broken in gateway/run.py", "it s broken in gateway run py"),
        ("it’s “quoted”—here。there，and\u00a0now\u3000then", "it s quoted here there and now then"),
        ("wo\u200brd so\u00adft ze\u200dro \ufeffbom", "word soft zero bom"),
        ("🚀 deploy", "🚀 deploy"),
        ("deploy🚀done", "deploy 🚀 done"),
        ("👩\u200d💻👍🏽❤\ufe0f", "👩 💻 👍 ❤"),
        ("a→b 50€ x≤y", "a → b 50 € x ≤ y"),
        ("a\x00b\x07c\ud800d\ue000e", "a b c d e"),
        ("किताब पढ़ो", "किताब " + unicodedata.normalize("NFKC", "पढ़ो")),
        ("──┤ box ├──", "box"),
        ("*** ~~~ !!!", ""),
    ],
)
def test_separators_symbols_and_invisible_characters(text, expected):
    """B04, B05, B13: separators split and never glue; a symbol is a word; an invisible character does not cut one."""
    assert fold(text).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", "get user name"),
        ("HTTPServer2", "http server 2"),
        ("the XMLParser and utf8", "xml parser utf 8"),
        ("看getUserName函数", "get user name"),
        ("Plain words, API and URLs v2 2026", ""),
        ("snake_case-and.dots", ""),
        ("a1b2c3d4e5f60718293a4b5c6d7e8f90", ""),
        ("aB" * limits.TOKEN_CODE_POINTS, ""),
    ],
)
def test_only_names_with_humps_have_parts(text, expected):
    """The parts of camelCase names are searchable; hashes and plain words add nothing."""
    assert fold(text).parts == expected


def test_marked_words_are_those_that_folding_changes():
    """B26: case alone is no mark; composed and decomposed are the same; scripts without accents have none."""
    assert marked("Má ma Đường i\u0302le ILE 评审 и") == {"má", "đường", "île"}
    assert marked("plain ASCII") == frozenset()
    assert marked("ma\u0301") == marked("MÁ")


def test_a_long_token_is_cut_in_text_and_query_alike():
    """A run of a thousand characters is found by itself and by its beginning."""
    long = "x" * 1000
    assert tokens(long) == ("x" * limits.TOKEN_CODE_POINTS,)
    assert tokens("é" * 1000) == ("e" * limits.TOKEN_CODE_POINTS,)
    assert _finds(long, f"a {long} b")


def test_text_beyond_the_bound_is_not_indexed():
    """A pasted log is findable by its beginning, in ASCII and elsewhere."""
    for filler in ("a ", "é "):
        text = filler * (limits.INDEXED_CODE_POINTS // 2) + "beyond"
        assert "beyond" not in tokens(text)
        assert len(tokens(text)) == limits.INDEXED_CODE_POINTS // 2


def test_a_run_at_the_end_of_a_term_may_go_on():
    """The trailing single character is asked for only where the text has it: before another token of the same term."""
    assert term("评审") == Term(text="评审", tokens=("评审",))
    assert term("评审会") == Term(text="评审会", tokens=("评审", "审会"))
    assert term("会") == Term(text="会", tokens=("会",), prefix=True)
    assert term("github 本", quoted=True) == Term(text="github 本", tokens=("github", "本"), prefix=True, quoted=True)
    assert term("备份github") == Term(text="备份github", tokens=("备份", "份", "github"))
    assert term("评审 审") == Term(text="评审 审", tokens=("评审", "审", "审"), prefix=True)
    assert term("deplo", prefix=True) == Term(text="deplo", tokens=("deplo",), prefix=True)


def test_a_term_without_tokens_is_none_and_an_emoji_is_a_token():
    """B13: `***` has nothing to look for; 🚀 has."""
    assert term("***") is None
    assert term("") is None
    assert term("🚀") == Term(text="🚀", tokens=("🚀",))


def test_find_gives_every_position_overlaps_too():
    """A phrase of one repeated word occurs at each place where it could begin; a prefix holds for the last token only."""
    assert find(("a", "a", "a", "b"), Term(text="a a", tokens=("a", "a"))) == [0, 1]
    assert find(("a", "bc", "a", "bd", "a"), Term(text="a b*", tokens=("a", "b"), prefix=True)) == [0, 2]
    assert find(("ab", "b"), Term(text="a*", tokens=("a",), prefix=True)) == [0]
    assert find((), Term(text="a", tokens=("a",))) == []
    assert find(("a", "b", "a", "b", "a", "c"), Term(text="", tokens=("a", "b", "a", "c"))) == [2]


@given(st.lists(st.sampled_from("ab"), max_size=30), st.lists(st.sampled_from("ab"), min_size=1, max_size=4), st.booleans())
@settings(max_examples=200, deadline=None)
def test_find_is_what_a_naive_scan_finds(sequence, wanted, prefix):
    """For every sequence: the linear search and the obvious one agree."""
    size = len(wanted)
    naive = [i for i in range(len(sequence) - size + 1) if sequence[i : i + size] == wanted]
    assert find(sequence, Term(text="", tokens=tuple(wanted), prefix=prefix)) == naive


@given(_TEXTS)
@settings(max_examples=200, deadline=None)
def test_any_text_gives_only_legal_tokens(text):
    """For every text: no ASCII but a-z0-9, no space, no control, no surrogate, within the length; and parts are plain words."""
    folded = fold(text)
    assert folded.text == " ".join(tokens(text))
    for token in tokens(text):
        assert 0 < len(token) <= limits.TOKEN_CODE_POINTS
        for char in token:
            assert (char.islower() or char.isdigit()) if char.isascii() else unicodedata.category(char)[0] not in "CZ"
    assert all(part.isascii() and part.isalnum() and part == part.lower() for part in folded.parts.split())
    folded.text.encode("utf-8")


@given(_SPACED)
@settings(max_examples=200, deadline=None)
def test_folding_folded_text_changes_nothing(text):
    """For every text of scripts with spaces."""
    once = fold(text).text
    if not any(unsegmented(token) for token in once.split()):
        assert fold(once).text == once


@given(_TEXTS)
@settings(max_examples=200, deadline=None)
def test_aligned_tokens_are_the_tokens(text):
    """For every text: same tokens, same order, offsets inside the text, starts never decreasing."""
    found = aligned(text)
    assert tuple(token for token, _, _ in found) == tokens(text)
    last = 0
    for _, start, end in found:
        assert last <= start < end <= len(text)
        last = start


@given(_TEXTS, st.integers(0, 40), st.integers(1, 6))
@settings(max_examples=200, deadline=None)
def test_a_cut_of_whole_tokens_finds_its_text(text, start, count):
    """For every text: what stands between two token borders is found in it, as typed."""
    found = aligned(text)
    if start >= len(found):
        return
    piece = found[start : start + count]
    if any(len(token) == limits.TOKEN_CODE_POINTS for token, _, _ in piece):
        return
    begin, end = piece[0][1], piece[-1][2]
    inside = [token for token, a, b in found if a < end and b > begin]
    if any(a < begin < b or a < end < b for _, a, b in found) and not all(unsegmented(token) for token in inside):
        return  # one code point gave several tokens, or a run begins before the cut
    assert _finds(text[begin:end], text)


def test_aligned_points_at_the_word_as_it_was_written():
    """Offsets are of the original text, marks and all."""
    text = "Đường de\u0301n  Huế—评审会 ﬁne"
    assert [(token, text[a:b]) for token, a, b in aligned(text)] == [
        ("duong", "Đường"),
        ("den", "de\u0301n"),
        ("hue", "Huế"),
        ("评审", "评审"),
        ("审会", "审会"),
        ("会", "会"),
        ("fine", "ﬁne"),
    ]


@pytest.mark.parametrize(
    "unit",
    [
        "A",
        "a.",
        "\u0301",
        "\u0301\u0323",
        "\u0301\uff9e",
        "e\u0301\u200d\u0323",
        "\u0f71\u0f72",
        "会",
        "\u1100\u1161",
        "🚀",
        "aB",
        "a1",
        "ﷺ",
        "\x00",
        " ",
    ],
)
def test_hostile_sizes_finish(unit):
    """200 000 code points of anything, also of marks that normalisation would sort quadratically, come back."""
    text = unit * (200_000 // len(unit))
    assert [token for token, _, _ in aligned(text)] == list(tokens(text))
    assert fold("a" + text).text
    term(text)


def test_a_phrase_of_one_repeated_word_is_found_in_linear_work():
    """100 000 tokens of one word, asked with 2 000 of them."""
    wanted = term("a " * 2000)
    assert wanted is not None
    assert len(find(tokens("a " * 100_000), wanted)) == 98_001


def test_marks_beyond_the_bound_are_dropped_and_the_word_stays():
    """A word with a thousand marks on one letter is that word still."""
    assert tokens("z" + "\u0301\u0323" * 500 + "algo") == ("zalgo",)
