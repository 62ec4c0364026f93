"""What a doctor found, for people: what was mended, the findings with the command that mends each, and a last line that says how it is. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wesaid.cli.output import safe
from wesaid.cli.paint import Line
from wesaid.service.doctor import Finding, Report

_STYLES: Final = {"error": "error", "warning": "warning", "note": "dim"}


def report_lines(report: Report, place: str) -> Iterator[Line]:
    """``place`` is what a command needs to work on the same home."""
    for done in report.mended:
        yield [("mended: ", "hint"), (safe(done), "")]
    for left in report.not_mended:
        yield [("not mended: ", "warning"), (safe(left), "")]
    for finding in report.findings:
        yield from _finding(finding, place)
    counts = {name: sum(1 for finding in report.findings if finding.severity == name) for name in _STYLES}
    told = ", ".join(f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts.items() if count)
    agents = f"{len(report.agents)} agent{'' if len(report.agents) == 1 else 's'} looked at"
    is_well = report.worst in {None, "note"}
    joint = "" if not told else ", " if is_well else ": "
    yield [("nothing is wrong: " if is_well else "", ""), (f"{agents}{joint}{told}", "title")]


def _finding(finding: Finding, place: str) -> Iterator[Line]:
    whose = f" {finding.agent_id}" if finding.agent_id else ""
    yield [(finding.severity, _STYLES[finding.severity]), (f"{whose} ", "key"), (f"[{finding.code}] ", "dim"), (safe(finding.message), "")]
    if finding.path and finding.path not in finding.message:
        yield [("  at: ", "hint"), (safe(finding.path), "")]
    if finding.advice:
        yield [("  do: ", "hint"), (safe(finding.advice), "")]
    if finding.command:
        command = finding.command + (place if finding.command.startswith("wesaid ") else "")
        yield [("  mend: ", "hint"), (safe(command), "command")]
