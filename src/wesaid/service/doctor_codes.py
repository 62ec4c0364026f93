"""THE TABLE of what a doctor may find: how bad it is, what it means, and what mends it. docs/doctor.md is this table; a test compares them.

``mends``: ``--fix`` mends it in place; ``copies``: ``--fix`` works on a copy, since something could be lost; ``by hand``: ``command`` or the page says how;
``by itself``: nothing is to be done.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Severity = Literal["note", "warning", "error"]
FIX: Final = "wesaid doctor --fix"


class Code(NamedTuple):
    """One row."""

    severity: Severity
    mending: Literal["mends", "copies", "by hand", "by itself"]
    means: str
    command: str | None = None


CODES: Final[dict[str, Code]] = {
    # the home and its files
    "config.invalid": Code("error", "by hand", "A setting has a value that is not allowed; every other command stops."),
    "files.permissions": Code("warning", "mends", "Files or folders of the store can be read by other users of this machine.", FIX),
    "files.owner": Code("warning", "by hand", "Files of the store belong to another user; they may become unreadable or not writable."),
    "files.read-only": Code("warning", "by hand", "The home cannot be written: searching works, nothing can be added, indexed or erased."),
    "files.link": Code("warning", "by hand", "Something in the home is a link to another place; it is left as it is."),
    "files.foreign": Code("note", "by hand", "Files in the home are not ours; they are left as they are."),
    "files.copies": Code("note", "by hand", "Copies of damaged databases lie beside the new ones; delete them when nothing is missed."),
    "files.unfinished": Code("note", "mends", "A repair was interrupted; its unfinished file is removed.", FIX),
    "disk.space": Code("warning", "by hand", "The disk is nearly full; what is committed stays readable, but nothing can be added."),
    # the database
    "store.unreadable": Code("error", "by hand", "The database may not be read: permissions of the file or of a folder above it."),
    "store.foreign": Code("error", "by hand", "A database of another program lies where ours should; move it away."),
    "store.newer": Code("error", "by hand", "A newer wesaid wrote the database; nothing is changed."),
    "store.older": Code("note", "by itself", "The schema is older; it is brought up to date when the database is opened next."),
    "store.busy": Code("error", "by hand", "Another process held the database longer than we wait; try again."),
    "store.damaged": Code("error", "copies", "The file is no database, was cut off, or pages of the transcripts are damaged.", FIX),
    "store.empty": Code("warning", "by hand", "The database holds nothing at all; it was never used, or what it held was taken away."),
    "store.failed": Code("error", "by hand", "The database could not be looked at for another reason; the message says which."),
    "rows.unreadable": Code("error", "copies", "Stored events do not unpack to JSON; their sources have them.", FIX),
    "rows.lost": Code("warning", "by hand", "A repair could not save all events, and their sessions were not read again since."),
    "rows.orphaned": Code(
        "warning", "mends", "Rows refer to rows that are not there, or say nothing; events without a session get one of their own.", FIX
    ),
    "rows.numbers": Code("warning", "mends", "The next event of a window would not go behind its last one.", FIX),
    "path.differs": Code("error", "mends", "What history shows is not what the events make.", FIX),
    # the index
    "index.pages": Code("error", "copies", "Pages of the index are damaged; the file is made anew from its rows, on a copy.", FIX),
    "index.damaged": Code("error", "mends", "The index is damaged or not there; it is dropped and filled again from the rows.", FIX),
    "index.differs": Code("error", "mends", "Messages of the index have no words, or words of it have no message.", FIX),
    "index.extra": Code("error", "mends", "Messages can be found that are not on the visible path, or that nobody said.", FIX),
    "index.missing": Code("error", "mends", "Messages that should be found are not indexed, and nothing says that they wait to be.", FIX),
    "index.titles": Code("warning", "mends", "Titles are missing from the index, or too many are in it.", FIX),
    "index.unfound": Code("error", "mends", "Messages are not found by a word of their own.", FIX),
    "index.stale": Code(
        "note", "mends", "Windows wait to be indexed; the next search begins with it, and says `indexing` until then.", FIX
    ),
    "index.old": Code("note", "by itself", "Messages were indexed by older rules; they are found as before until they are renewed."),
    "counters.wrong": Code("warning", "mends", "Counters of messages are wrong.", FIX),
    # what was imported, what was deleted
    "deletions.lost": Code("warning", "by hand", "Which sessions were deleted is lost; an import may bring them back.", "wesaid import"),
    "source.missing": Code("note", "by itself", "Transcript files are gone; what was imported from them stays."),
    "source.incomplete": Code("warning", "mends", "An import of a file was interrupted; the next one goes on where it was.", FIX),
    "source.damaged": Code("note", "by itself", "Lines of transcripts could not be read and were passed over."),
    "source.shrunk": Code("note", "by itself", "Transcript files are shorter than when they were read; what they said then is kept."),
    "source.behind": Code("note", "mends", "Transcript files have grown since they were read.", FIX),
    "source.never": Code(
        "note",
        "mends",
        "Transcripts lie in places that we know and were never imported; `--fix` imports those of tools that the home has.",
        FIX,
    ),
    "source.failed": Code("warning", "by hand", "A transcript, or a folder of them, cannot be read."),
    "erase.pending": Code("note", "mends", "Something was deleted, and its bytes are still in the files.", FIX),
    # sizes, clock, time
    "log.large": Code("warning", "mends", "The write-ahead log is large: a process reads without an end, or was killed.", FIX),
    "log.pinned": Code("warning", "by hand", "The write-ahead log cannot be emptied while another process reads from it; end that one."),
    "file.free": Code("note", "by itself", "Much of the file is free pages, which are used again."),
    "clock.future": Code("note", "by hand", "Messages are dated ahead of this machine's clock; one of the clocks is wrong."),
    "check.partial": Code("warning", "by hand", "Time was up before everything was looked at."),
}
