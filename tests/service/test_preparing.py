"""Claims about prepared events: the record stays as it was said, and nothing secret leaves it, not into the index, titles or words."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import apsw
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wesaid.rules import fold, redact, searchable
from wesaid.service import opening, preparing, writing
from wesaid.values import OPERATOR, Event, Flag

PLANTED = [(rule.kind, text, secret) for rule in redact.RULES for text, secret in rule.examples]


def event(text, role="user", **more):
    record = {"type": "message", "id": "m", "message": {"role": role, "content": [{"type": "text", "text": text}]}, **more}
    return Event(nav=searchable.nav_of(record), type="message", timestamp=5, record=record)


def stored(lab, key="agent:main:main"):
    return lab.stored(key)[-1]


@given(st.text(max_size=80).filter(lambda text: text.strip() and "\x00" not in text))
def test_the_record_is_kept_and_the_index_text_is_its_redacted_folding(text):
    """For any text: body is the record, index text is ``fold(redact(text))``, versions are the present ones."""
    made = preparing.prepare(redact.BUILT_IN, "openclaw", event(text.encode("utf-8", "replace").decode()))
    assert msgspec.json.decode(made.body) == made.event.record
    if made.said is not None:
        found = searchable.searchable(made.event.record)
        folded = fold.fold(redact.redact(found.text))
        assert (made.said.index_text, made.said.index_parts) == (folded.text, folded.parts)
        assert (made.said.fold_version, made.said.redact_version) == (fold.VERSION, redact.VERSION)


@pytest.mark.parametrize(("kind", "text", "secret"), PLANTED, ids=[kind for kind, _, _ in PLANTED])
def test_no_six_characters_of_a_planted_secret_are_in_what_is_indexed(kind, text, secret):
    """Of no kind that the redactor knows; the spans say where it was."""
    said = preparing.prepare(redact.BUILT_IN, "openclaw", event(f"before {text} after")).said
    assert said.spans
    around = f"before {text} after".replace(secret, " ").lower()
    for start in range(len(secret) - 5):
        piece = secret[start : start + 6].lower()
        if piece.isalnum() and piece not in around and piece not in f"[redacted:{kind}]":
            assert piece not in said.index_text
            assert piece not in said.index_parts


def test_what_is_not_said_is_not_prepared_for_the_index():
    """Tool results and headers have a body only."""
    assert preparing.prepare(redact.BUILT_IN, "openclaw", event("result", role="toolResult")).said is None
    header = {"type": "session", "id": "s"}
    made = preparing.prepare(redact.BUILT_IN, "openclaw", Event(nav=searchable.nav_of(header), type="session", timestamp=0, record=header))
    assert made.said is None
    assert msgspec.json.decode(made.body) == header


def test_a_subagents_messages_are_marked():
    """So that they rank below people's."""
    assert preparing.prepare(redact.BUILT_IN, "openclaw", event("hello"), subagent=True).said.flags & Flag.SUBAGENT
    assert not preparing.prepare(redact.BUILT_IN, "openclaw", event("hello")).said.flags & Flag.SUBAGENT


def test_an_appended_message_of_a_subagent_is_marked(lab):
    """As an imported one is."""
    key = "agent:main:subagent:one"
    lab.say("hello", key=key, by="agent:main:main")
    assert stored(lab, key).flags & Flag.SUBAGENT


def test_a_digest_tells_texts_apart_but_for_white_space():
    """Signed 64 bits; what a mail client or a terminal does to spaces makes no other message."""
    assert preparing.digest("a  b\n") == preparing.digest(" a b")
    assert preparing.digest("a b") != preparing.digest("ab")
    assert -(2**63) <= preparing.digest("\ud800") < 2**63


def test_a_stored_event_prepared_again_is_the_same(lab):
    """What the reconciler makes of a row is what the append made."""
    lab.say("the ferry password=hunter2hunter2 会议", at=1_767_225_600_000)
    row = stored(lab)
    again = preparing.again(redact.BUILT_IN, "openclaw", row)
    assert again.body == row.body
    assert again.said.spans == row.spans
    assert (again.event.timestamp, again.event.type, again.event.nav.id) == (row.timestamp, row.type, row.id)


def test_stored_spans_are_sliced_and_old_ones_are_found_anew(lab):
    """A row of an older redactor is redacted by the present one on its way out."""
    lab.say("the ferry password=hunter2hunter2")
    row = stored(lab)
    words = preparing.words_of(redact.BUILT_IN, "openclaw", row)
    assert (words.role, words.text, words.redacted) == ("user", "the ferry password=[redacted:password]", True)
    old = type(row)(**{name: getattr(row, name) for name in row.__slots__} | {"spans": (), "redact_version": 0})
    assert preparing.words_of(redact.BUILT_IN, "openclaw", old) == words
    assert preparing.words_of(redact.BUILT_IN, "openclaw", row, reveal=True).text == "the ferry password=hunter2hunter2"


# ── the bytes of a home ──────────────────────────────────────────────────────────────────────────────────────────
def bytes_beside_events(home: Path, work: Path) -> bytes:
    """Every byte of a home but those of its event rows: the database is copied, the rows deleted, what they occupied given back."""
    everything = b""
    for path in sorted(home.rglob("*")):
        if path.is_file() and not path.name.startswith("agent.sqlite"):
            everything += path.read_bytes()
    for number, path in enumerate(sorted(home.rglob("agent.sqlite"))):
        copy = work / f"copy{number}.sqlite"
        with closing(apsw.Connection(str(path))) as source, closing(apsw.Connection(str(copy))) as target:
            with target.backup("main", source, "main") as backup:
                backup.step()
            target.execute("DELETE FROM event")
            target.execute("VACUUM")
            target.pragma("wal_checkpoint", "truncate")
        everything += copy.read_bytes()
    return everything


def test_a_planted_secret_is_in_event_rows_only(tmp_path):
    """Each known kind, as text, title and label: not in the index, the titles, the vocabulary, nor any other table or file."""
    home = tmp_path / "home"
    with opening.open_home(home) as opened:
        for number, (_, text, _) in enumerate(PLANTED):
            key = f"agent:main:s{number}"
            # The first line is the title too; bare text of a key is what a person pastes.
            writing.append(opened, OPERATOR, key, [{"role": "user", "text": f"use {text} for the ferry"}])
            writing.append(opened, OPERATOR, key, [{"role": "assistant", "text": f"I will use {text}"}])
            if len(text) < 190:
                writing.patch(opened, OPERATOR, key, label=f"label {text}")
    everything = bytes_beside_events(home, tmp_path).lower()
    for kind, _, secret in PLANTED:
        longest = max(secret.split("\n"), key=len)
        for piece in {longest, *fold.fold(longest).text.split()}:
            if len(piece) >= 8 and piece.lower() not in " ".join(redact.KINDS):  # a kind's own name stands in its placeholder
                assert piece.lower().encode() not in everything, (kind, piece)
    assert b"redacted" in everything


def test_the_scan_would_see_a_secret_in_the_index(tmp_path):
    """The check itself: a word of a message is found in the index's bytes, and its record is not."""
    home = tmp_path / "home"
    with opening.open_home(home) as opened:
        writing.append(opened, OPERATOR, "agent:main:main", [{"role": "user", "text": "hello\nthe walruswalrus word CamelWalrusCase"}])
    everything = bytes_beside_events(home, tmp_path)
    assert b"walruswalrus" in everything
    assert b"CamelWalrusCase" not in everything
    with closing(sqlite3.connect(home / "agents" / "main" / "agent.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM event").fetchone() == (1,)
