"""Text -> index text, and typed words -> terms: the one place that decides when two spellings are the same word.

It knows scripts, case, marks and identifiers. It refuses to know where index text is kept, what is secret, and what ranks first.

Invariants:

* index text is tokens joined by single spaces; a token has no ASCII but ``a-z0-9``, no space, no control, no surrogate, and at most
  ``limits.TOKEN_CODE_POINTS`` code points. An index with FTS5's ``ascii`` tokenizer therefore sees exactly these tokens;
* no text raises, and the work grows with the length of the text only;
* a term is folded by the same code as the text, so that what is stored can be asked for;
* ``aligned`` yields the tokens of ``tokens``, in the same order, with their place in the original text.

A change that makes any text fold differently raises ``VERSION``: index rows of an older version are rebuilt
(docs/decisions/0003-fold.md).
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence
from operator import add
from typing import Final, NamedTuple

from wesaid import limits
from wesaid.values import Term

VERSION: Final = 1


class Folded(NamedTuple):
    """Index text: ``text`` has every word, ``parts`` the humps of identifiers (mostly empty)."""

    text: str
    parts: str


# ── scripts ──────────────────────────────────────────────────────────────────────────────────────────────────────
# Scripts written without spaces (Unicode's Scripts.txt; letters, marks and numbers only reach this class). Hangul is here although
# Korean has spaces: particles are glued to the noun, and a bigram finds the noun inside (field report B20).
_HAN: Final = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_HIRAGANA: Final = "\u3041-\u309f"
_KATAKANA: Final = "\u30a1-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"
_HANGUL: Final = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_SPACELESS: Final = (  # the rest
    "\u02ea\u02eb\u3100-\u312f\u31a0-\u31bf"  # Bopomofo
    "\u0e00-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Thai, Lao, Khmer, Myanmar
    "\u1950-\u19df\u1a20-\u1aaf\uaa80-\uaadf\ua000-\ua4cf"  # Tai Le, New Tai Lue, Tai Tham, Tai Viet, Yi
    "\U00017000-\U00018d8f\U0001b170-\U0001b2ff"  # Tangut, Khitan, Nüshu
)
_UNSEGMENTED: Final = _HAN + _HIRAGANA + _KATAKANA + _HANGUL + _SPACELESS
# A pattern that begins with a class is searched several times faster than one that begins with a repetition.
_RUN: Final = re.compile(f"[{_UNSEGMENTED}][{_UNSEGMENTED}]*")
_PIECE: Final = re.compile(f"[{_UNSEGMENTED}]+|[^ {_UNSEGMENTED}]+")
_SCRIPT: Final = re.compile(f"[{_HAN}]+|[{_HIRAGANA}]+|[{_KATAKANA}]+|[{_HANGUL}]+|[{_SPACELESS}]+|[^{_UNSEGMENTED}]+")
_PARTICLE: Final = re.compile(f"[{_HIRAGANA}]")
# Marks that are accents wherever they stand alone. й ї ガ and their like are one code point after composition and never come here.
_ACCENT: Final = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"  # Latin, Greek, Cyrillic stress
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08d3-\u08e1\u08e3-\u08ff]"  # Arabic points
)
# Invisible although no format character: variation selectors, fillers, Khmer inherent vowels; the Arabic tatweel only stretches a word.
_INVISIBLE: Final = re.compile(
    "[\ufe00-\ufe0f\U000e0100-\U000e01ef\u180b-\u180d\u180f\u115f\u1160\u3164\uffa0\u17b4\u17b5\u0640\U0001f3fb-\U0001f3ff]"
)
# Letters and symbols that separate: modifier apostrophes (as ' does), fraction and division slashes, box drawing, spinners.
_SEPARATING: Final = re.compile("[\u02b9-\u02bf\u2044\u2215\u2500-\u259f\u2800-\u28ff]")
# What Unicode does not decompose, lower case only: capitals are folded first.
_LETTERS: Final = {
    "đ": "d", "ð": "d", "ɖ": "d", "ø": "o", "ł": "l", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ħ": "h", "ŧ": "t", "ƀ": "b",
    "ɨ": "i", "ʉ": "u", "ɇ": "e", "ƶ": "z", "ǥ": "g", "ɍ": "r", "ɏ": "y", "ⱥ": "a", "ⱦ": "t", "ȼ": "c", "ɓ": "b", "ɗ": "d", "ƙ": "k",
    "ё": "е", "ѐ": "е", "ѝ": "и",  # й ў ї ѓ ќ are letters of their own
    "آ": "ا", "أ": "ا", "إ": "ا", "ٱ": "ا",
}  # fmt: skip
_ACCENTED_SCRIPTS: Final = ("LATIN", "GREEK")

# ── ASCII, the fast path ─────────────────────────────────────────────────────────────────────────────────────────
_OTHER_ASCII: Final = "".join(chr(n) for n in range(128) if not chr(n).isalnum())  # 128: the size of ASCII
_TO_WORDS: Final = bytes.maketrans(
    (string.ascii_uppercase + _OTHER_ASCII).encode(), (string.ascii_lowercase + " " * len(_OTHER_ASCII)).encode()
)
_SHAPES: Final = {
    **dict.fromkeys(string.ascii_uppercase.encode(), ord("U")),
    **dict.fromkeys(string.ascii_lowercase.encode(), ord("l")),
    **dict.fromkeys(string.digits.encode(), ord("d")),
}
_TO_SHAPE: Final = bytes(_SHAPES.get(n, ord(" ")) for n in range(256))  # 256: all bytes; of UTF-8, so what is not ASCII separates
_HUMPED: Final = re.compile(rb"[Ud](?:(?<=[ld]U)|(?<=[lU]d)|(?<=d)(?=[lU])|(?<=UU)(?=l))")  # on shapes: a new part begins or ends
_HUMP: Final = re.compile(rb"[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+|[0-9]+")  # URLs stays whole
_ASCII_RUN: Final = re.compile(r"[A-Za-z0-9]+")
_HUMPS_MAX: Final = 8  # more is a hash or base64, not a name
_HUMP_LETTERS: Final = 3  # a name has a part of at least this many letters; `v2` and most hex have none
_LETTERS_RUN: Final = re.compile(r"\w+")
_ASCII_WORD: Final = re.compile("[A-Za-z0-9]+")

# ── any text ─────────────────────────────────────────────────────────────────────────────────────────────────────
_ZERO_WIDTH: Final = "\u200b"
# A candidate for too many marks in a row: whatever is no letter, and the half-width voicing marks, which are letters by category only.
_LONG: Final = re.compile(f"[\\W\uff9e\uff9f][\\W\uff9e\uff9f]{{{limits.MARKS_IN_A_ROW},}}")
# Made spaces before normalising. NFKC would glue "TM" to the name; full-width punctuation is everywhere in Chinese and Japanese, and
# without it such text is already normalised, which costs a tenth.
_SPACES: Final = "™℠，：；！？（）\u3000"
# Code points that may compose with what stands before them though they are no marks: jamo, and what folds to jamo or voicing marks.
_JOINING: Final = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff\u3131-\u318e\uff9e-\uffdc]")


def _accents_off(char: str) -> str:
    """A lower-case letter without its accents, if its script has accents; else the letter as it is."""
    base = unicodedata.normalize("NFD", char)
    if len(base) > 1 and unicodedata.name(base[0], "").startswith(_ACCENTED_SCRIPTS):
        return "".join(_LETTERS.get(c, c) for c in _ACCENT.sub("", base))
    return _LETTERS.get(char, char)


def _folded_char(char: str) -> str:
    """What one code point of NFKC text becomes: folded letters, a space, a symbol between spaces, or nothing."""
    category = unicodedata.category(char)
    if char.isascii():
        return char.lower() if char.isalnum() else " "
    if category == "Cf" or _INVISIBLE.match(char) or _ACCENT.match(char):
        return ""
    if category[0] in "ZPC" or _SEPARATING.match(char):
        return " "
    if category[0] == "S":
        return f" {char} "
    if category == "Nd":
        return str(unicodedata.decimal(char))
    # Accents go before the case does: casefold turns ᾳ into αι and İ into i with a dot above.
    plain = "".join(_accents_off(c) for c in _accents_off(char).casefold())
    return unicodedata.normalize("NFKC", plain)


class _Table(dict[int, str]):
    """``str.translate`` table, filled as code points are met, up to a bound: hostile text must not make it grow for ever."""

    def __missing__(self, code: int) -> str:
        value = _folded_char(chr(code))
        if len(self) < limits.FOLD_TABLE_ENTRIES:
            self[code] = value
        return value


class _Joins(dict[str, bool]):
    """Whether a code point belongs to the one before it, when a text is cut into pieces that fold independently."""

    def __missing__(self, char: str) -> bool:
        category = unicodedata.category(char)
        value = category[0] == "M" or category == "Cf" or bool(_JOINING.match(char)) or bool(_INVISIBLE.match(char))
        if len(self) < limits.FOLD_TABLE_ENTRIES:
            self[char] = value
        return value


_TABLE: Final = _Table()
_JOINS: Final = _Joins()


def _cap(found: re.Match[str]) -> str:
    """Make marks beyond ``limits.MARKS_IN_A_ROW`` invisible; length is kept. Invisible characters do not interrupt a row."""
    run = found.group()
    if run.isascii():
        return run
    kept, row = [], 0
    for char in run:
        if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]):
            row += 1
        elif not _JOINS[char]:
            row = 0
        kept.append(char if row <= limits.MARKS_IN_A_ROW else _ZERO_WIDTH)
    return "".join(kept)


def _guarded(text: str) -> str:
    """The part of a text that is indexed, safe to normalise in linear time; offsets are those of ``text``."""
    text = text[: limits.INDEXED_CODE_POINTS]
    for char in _SPACES:
        text = text.replace(char, " ")
    return _LONG.sub(_cap, text)


def _flat(text: str) -> str:
    """Guarded text folded character by character: words and symbols with spaces between, runs not yet cut into bigrams."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).translate(_TABLE))


def _bigrams(found: re.Match[str]) -> str:
    """A run of a script without spaces as overlapping pairs, closed by its last character, where no pair can begin."""
    run = found.group()
    return f" {' '.join(map(add, run, run[1:]))} {run[-1]} "


def _words(text: str) -> list[str]:
    """The tokens of a text."""
    if text.isascii():
        words = text[: limits.INDEXED_CODE_POINTS].encode("ascii").translate(_TO_WORDS).decode("ascii").split()
    else:
        words = _RUN.sub(_bigrams, _flat(_guarded(text))).split()
    if words and max(map(len, words)) > limits.TOKEN_CODE_POINTS:
        words = [word[: limits.TOKEN_CODE_POINTS] for word in words]
    return words


def _parts(text: str) -> str:
    """The humps of identifiers such as ``getUserName`` and ``HTTPServer2``, lower case, in order of appearance."""
    raw = text[: limits.INDEXED_CODE_POINTS].encode("utf-8", "surrogatepass")
    shape = raw.translate(_TO_SHAPE) + b" "
    parts: list[bytes] = []
    met = _HUMPED.search(shape)
    while met:
        start, end = shape.rfind(b" ", 0, met.start()) + 1, shape.index(b" ", met.start())
        if end - start <= limits.TOKEN_CODE_POINTS:
            humps = _HUMP.findall(raw, start, end)
            if 1 < len(humps) <= _HUMPS_MAX and any(len(hump) >= _HUMP_LETTERS and hump.isalpha() for hump in humps):
                parts += humps
        met = _HUMPED.search(shape, end)
    return b" ".join(parts).lower().decode("ascii")


# ── the public face ──────────────────────────────────────────────────────────────────────────────────────────────
def fold(text: str) -> Folded:
    """Index text of a (redacted) text: tokens joined by single spaces; empty when there is no token."""
    return Folded(" ".join(_words(text)), _parts(text))


def tokens(text: str) -> tuple[str, ...]:
    """The tokens of ``fold(text).text``."""
    return tuple(_words(text))


def marked(text: str) -> frozenset[str]:
    """The words of a text that folding changes by more than case (``má``, ``Đường``), lower case and composed.

    ``má``, ``mà`` and ``ma`` are one token; who typed the mark means that one first (field report B26, ``rank.exact_first``).
    """
    if text.isascii():
        return frozenset()
    words = set(_LETTERS_RUN.findall(unicodedata.normalize("NFC", _guarded(text)).lower()))
    return frozenset(word for word in words if not word.isascii() and _flat(word) != word)


def unsegmented(token: str) -> bool:
    """Whether a token came from a run of a script written without spaces."""
    return _RUN.fullmatch(token) is not None


def pieces(text: str) -> list[str]:
    """A typed word cut where its script changes, if it has a script without spaces; else the word by itself.

    A question typed without spaces has its words there: ``GitHub备份`` is two, ``開始ユーザー`` is two. A single Hiragana character
    between others is a particle and is left out.
    """
    if text.isascii() or not _RUN.search(normal := unicodedata.normalize("NFKC", _guarded(text))):
        return [text]
    cut = _SCRIPT.findall(normal)
    return [piece for piece in cut if not _PARTICLE.fullmatch(piece)] or [text]


def term(text: str, *, quoted: bool = False, prefix: bool = False) -> Term | None:
    """A typed word or phrase as adjacent tokens, or None when nothing of it is indexed (``***``).

    A run without spaces at the very end may go on in the text that is looked for: it is asked for by its pairs only, and a single
    character by the pairs (or the end of a run) that begin with it. A run before other tokens ends where it ends in the text.
    """
    words = _words(text)
    if not words:
        return None
    if unsegmented(words[-1]):
        closes_run = len(words) > 1 and len(words[-2]) > 1 and unsegmented(words[-2])
        prefix = not closes_run
        if closes_run:
            words.pop()
    return Term(text=text, tokens=tuple(words), prefix=prefix, quoted=quoted)


def parts_aligned(text: str) -> list[tuple[str, int, int]]:
    """The tokens of ``parts``, each with its code point offsets in the text; for excerpts, where a match is only in a part."""
    found: list[tuple[str, int, int]] = []
    for word in _ASCII_RUN.finditer(text[: limits.INDEXED_CODE_POINTS]):
        if _parts(word.group()):
            found += [
                (hump.group().decode("ascii").lower(), word.start() + hump.start(), word.start() + hump.end())
                for hump in _HUMP.finditer(word.group().encode("ascii"))
            ]
    return found


def find(tokens_seq: Sequence[str], wanted: Term) -> list[int]:
    """Positions in ``tokens_seq`` where ``wanted`` occurs, ascending, overlapping ones too. Linear in both lengths."""
    head = wanted.tokens[:-1] if wanted.prefix else wanted.tokens
    if not head:
        return [i for i, token in enumerate(tokens_seq) if token.startswith(wanted.tokens[-1])]
    found = _occurrences(tokens_seq, head)
    if not wanted.prefix:
        return found
    size, last = len(head), wanted.tokens[-1]
    return [i for i in found if i + size < len(tokens_seq) and tokens_seq[i + size].startswith(last)]


def _occurrences(sequence: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Knuth, Morris and Pratt: a phrase of one word repeated, in a text of that word, stays linear."""
    if len(wanted) == 1:
        return [i for i, token in enumerate(sequence) if token == wanted[0]]
    if wanted[0] not in sequence:
        return []
    back = [0]
    for token in wanted[1:]:
        k = back[-1]
        while k and wanted[k] != token:
            k = back[k - 1]
        back.append(k + 1 if wanted[k] == token else 0)
    found, k = [], 0
    for i, token in enumerate(sequence):
        while k and (k == len(wanted) or wanted[k] != token):
            k = back[k - 1]
        if wanted[k] == token:
            k += 1
        if k == len(wanted):
            found.append(i - k + 1)
    return found


def aligned(text: str) -> list[tuple[str, int, int]]:
    """The tokens of ``tokens(text)`` in order, each with the code points ``[start, end)`` of ``text`` that it came from.

    Starts never decrease. A token that is cut ends where the cut is. Several times slower than ``tokens``.
    """
    longest = limits.TOKEN_CODE_POINTS
    if text.isascii():
        spans = (m.span() for m in _ASCII_WORD.finditer(text[: limits.INDEXED_CODE_POINTS]))
        return [(text[a : min(b, a + longest)].lower(), a, min(b, a + longest)) for a, b in spans]
    flat, starts, ends = _located(_guarded(text))
    result: list[tuple[str, int, int]] = []
    for piece in _PIECE.finditer(flat):
        begin, end = piece.span()
        if not _RUN.match(flat, begin):
            end = min(end, begin + longest)
            result.append((flat[begin:end], starts[begin], ends[end - 1]))
            continue
        result += [(flat[i : i + 2], starts[i], ends[i + 1]) for i in range(begin, end - 1)]
        result.append((flat[end - 1], starts[end - 1], ends[end - 1]))
    return result


class _Alone(dict[str, str]):
    """``_flat`` of single code points, remembered up to the same bound as the others."""

    def __missing__(self, char: str) -> str:
        value = _flat(char)
        if len(self) < limits.FOLD_TABLE_ENTRIES:
            self[char] = value
        return value


_ALONE: Final = _Alone()


def _located(text: str) -> tuple[str, list[int], list[int]]:
    """``_flat(text)`` with where each of its characters came from: folded piece by piece, a piece being a character and its marks."""
    flat: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    begin = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _JOINS[text[end]]:
            continue
        piece = text[begin:end]
        folded = _ALONE[piece] if len(piece) == 1 else _flat(piece)
        flat.append(folded)
        if len(folded) == 1:
            starts.append(begin)
            ends.append(end)
        else:
            starts += [begin] * len(folded)
            ends += [end] * len(folded)
        begin = end
    return "".join(flat), starts, ends
