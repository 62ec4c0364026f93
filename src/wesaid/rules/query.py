"""What was typed -> a Query: words, phrases, exclusions, alternatives and fields (contract.md §5).

It knows the little language. It refuses to know how words are stored and which of them are common. Invariants:

* words are never syntax: any text that is neither blank nor too long parses, ``role:`` with an unknown value apart;
* every Term of the answer has a token, so that nothing downstream asks for nothing;
* the answer is bounded: at most ``limits.QUERY_TERMS`` words, and as many tokens in one term. What is beyond is in ``dropped``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from wesaid import keys, limits
from wesaid.errors import QueryError
from wesaid.rules import fold
from wesaid.values import Clause, Query, Term

FIELDS: Final = ("role", "agent", "session", "tool", "project", "after", "before")
ROLES: Final = ("user", "assistant")

_QUOTES: Final = '"“”„'
_FIELD: Final = re.compile(rf"({'|'.join(FIELDS)}):(?=\S)(?:[{_QUOTES}]([^{_QUOTES}]*)[{_QUOTES}](?=\s|$)|(\S+))")
_WORD: Final = re.compile(r"[^\s“”„]+")
_TYPOGRAPHIC_END: Final = re.compile(f"[{_QUOTES}]")
_OPENING: Final = "([{"  # before a quote or a word they are punctuation; the quote behind them is still a quote
_POSSESSIVE: Final = re.compile(r"(?<=\w)['’]s(?=\W*$)", re.IGNORECASE)  # who asks for Anna's plan also asks for "Anna has a plan"
_WORD_CHARS: Final = 3  # a run without spaces longer than this may be several words; as one it is tier `phrase` all the same


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """One thing typed: a word, a quoted phrase, or a field with its value. ``text`` is without quotes, minus and star."""

    kind: Literal["word", "phrase", "field"]
    text: str
    start: int
    name: str = ""  # of a field
    negative: bool = False
    prefix: bool = False

    @property
    def operand(self) -> bool:
        """Whether it can stand beside OR."""
        return self.kind != "field" and not self.negative and not self.is_or

    @property
    def is_or(self) -> bool:
        """The word OR, which joins when it stands between operands."""
        return self.kind == "word" and self.text == "OR" and not self.negative and not self.prefix


def parse(text: str) -> Query:
    """The question that ``text`` asks.

    Raises:
        QueryError: blank, longer than ``limits.QUERY_CODE_POINTS`` after trimming, or a ``role:`` that is none.
    """
    text = text.strip()
    if not text:
        raise QueryError("the query is blank", hint="give at least one word", details={"field": "query"})
    if len(text) > limits.QUERY_CODE_POINTS:
        raise QueryError(
            f"the query has {len(text)} characters; {limits.QUERY_CODE_POINTS} are allowed",
            hint="ask with the few words that matter",
            details={"field": "query", "given": len(text), "allowed": limits.QUERY_CODE_POINTS},
        )
    items = _items(text)
    fields = {item.name: item.text for item in items if item.kind == "field"}
    typed = [item for item in items if item.kind != "field"]
    groups = _groups(items)
    unexcluded = False
    if not _clauses(groups):  # nothing to exclude from
        unexcluded = any(item.negative for item in typed)
        items = typed = [replace(item, negative=False) for item in typed]
        groups = _groups(items)
    dropped: list[str] = []
    clauses = _kept(_clauses(groups), dropped)
    excluded = [t for item in typed if item.negative and (t := _term(item)) is not None]
    dropped += [t.text for t in excluded[limits.QUERY_TERMS :]]
    return Query(
        text=text,
        clauses=clauses,
        excluded=tuple(excluded[: limits.QUERY_TERMS]),
        whole=_whole(groups, clauses),
        fields=fields,
        symbols_only=not clauses and (bool(typed) or not fields),
        dropped=tuple(dropped),
        unexcluded=unexcluded,
    )


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _items(text: str) -> list[_Item]:
    """What was typed, left to right."""
    items: list[_Item] = []
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] in _OPENING:
            at += 1
            continue
        item, at = _item(text, at)
        if item is not None:
            items.append(item)
    return items


def _item(text: str, start: int) -> tuple[_Item | None, int]:
    """The item that begins at ``start``, and where the next one may begin."""
    negative = text[start] == "-" and text[start + 1 : start + 2] not in ("", "-") and not text[start + 1].isspace()
    at = start + negative
    end = _closing_quote(text, at)
    if end is not None:
        prefix = text[end + 1 : end + 2] == "*"
        return _Item(kind="phrase", text=text[at + 1 : end], start=start, negative=negative, prefix=prefix), end + 1 + prefix
    if (field := None if negative else _FIELD.match(text, at)) is not None and (item := _field(field)) is not None:
        return item, field.end()
    word = _WORD.match(text, at)
    if word is None:  # a typographic quote that nothing closes
        return None, at + 1
    typed = word.group()
    prefix = typed.endswith("*") and "*" not in typed[:-1] and len(typed) > 1
    return _Item(kind="word", text=typed[:-1] if prefix else typed, start=start, negative=negative, prefix=prefix), word.end()


def _closing_quote(text: str, at: int) -> int | None:
    """Where the quote that opens at ``at`` closes; None when no quote opens there, or none closes it."""
    quote = text[at : at + 1]
    if quote == '"':
        end = text.find('"', at + 1)
        return None if end < 0 else end
    if not quote or quote not in _QUOTES:
        return None
    found = _TYPOGRAPHIC_END.search(text, at + 1)
    return None if found is None else found.start()


def _field(found: re.Match[str]) -> _Item | None:
    """A field with its value; None when it is text after all (an empty value, a whole session key after ``agent:``)."""
    name, value = found.group(1), (found.group(2) or found.group(3) or "").strip(_QUOTES + " ")
    if name == "role":
        value = value.lower()
        if value not in ROLES:
            raise QueryError(
                f"role:{value[: limits.AGENT_ID_CHARS]} is no role; allowed are role:user and role:assistant",
                hint='to search for the words themselves, quote them: "role:…"',
                details={"field": "role", "position": found.start(), "allowed": list(ROLES)},
            )
    if not value or (name == "agent" and not keys.AGENT_ID.fullmatch(value)):
        return None
    return _Item(kind="field", name=name, text=value, start=found.start())


# ── terms ────────────────────────────────────────────────────────────────────────────────────────────────────────
def _groups(items: Sequence[_Item]) -> list[list[_Item]]:
    """Words and phrases to find, those joined by OR in one list; an OR that joins nothing is a word."""
    groups: list[list[_Item]] = []
    joining = False
    for i, item in enumerate(items):
        if item.is_or and not joining and i and i + 1 < len(items) and items[i - 1].operand and items[i + 1].operand:
            joining = True
        elif joining:
            groups[-1].append(item)
            joining = False
        elif item.kind != "field" and not item.negative:
            groups.append([item])
    return groups


def _term(item: _Item) -> Term | None:
    """An item as one term, of at most ``limits.QUERY_TERMS`` tokens."""
    made = fold.term(item.text, quoted=item.kind == "phrase", prefix=item.prefix)
    return None if made is None else _bounded(made)


def _bounded(made: Term) -> Term:
    """A very long phrase is looked for by its beginning: a thousand adjacent words cost more than they tell apart."""
    if len(made.tokens) <= limits.QUERY_TERMS:
        return made
    return replace(made, tokens=made.tokens[: limits.QUERY_TERMS], prefix=False)


def _clauses(groups: Iterable[Sequence[_Item]]) -> list[Clause]:
    """Clauses in the order typed; a word typed without spaces gives several, a word without tokens none."""
    made: list[Clause] = []
    for group in groups:
        if len(group) == 1 and group[0].kind == "word" and not group[0].prefix:
            made += [Clause(terms=(t,)) for t in _inner_words(group[0].text)]
        elif terms := tuple(t for item in group if (t := _term(item)) is not None):
            made.append(Clause(terms=terms))
    return made


def _inner_words(word: str) -> list[Term]:
    """The terms of one plain word: itself, or what it consists of when it is a sentence without spaces (field report B22)."""
    terms: list[Term] = []
    word = _POSSESSIVE.sub("", word) or word
    for piece in fold.pieces(word):
        tokens = fold.tokens(piece)
        if len(tokens) > _WORD_CHARS and all(map(fold.unsegmented, tokens)):
            terms += [Term(text=pair, tokens=(pair,)) for pair in tokens[:-1]]
        elif (made := fold.term(piece)) is not None:
            terms.append(_bounded(made))
    return terms


def _kept(clauses: Iterable[Clause], dropped: list[str]) -> tuple[Clause, ...]:
    """Different clauses within the bound on terms; the words of the others go to ``dropped``."""
    kept: dict[tuple[tuple[tuple[str, ...], bool], ...], Clause] = {}
    count = 0
    for clause in clauses:
        identity = tuple((t.tokens, t.prefix) for t in clause.terms)
        if identity in kept:
            continue
        if count + len(clause.terms) > limits.QUERY_TERMS:
            dropped += [t.text for t in clause.terms]
            continue
        kept[identity] = clause
        count += len(clause.terms)
    return tuple(kept.values())


def _whole(groups: Sequence[Sequence[_Item]], clauses: Sequence[Clause]) -> Term | None:
    """All words in a row as one term; None with OR, with a prefix inside, or when a single clause says the same already."""
    items = [group[0] for group in groups]
    if not items or any(len(group) > 1 for group in groups) or any(item.prefix for item in items[:-1]):
        return None
    made = fold.term(" ".join(item.text for item in items), prefix=items[-1].prefix)
    if made is None:
        return None
    made = _bounded(made)
    if len(clauses) == 1 and clauses[0].terms[0].tokens == made.tokens:
        return None
    return made
