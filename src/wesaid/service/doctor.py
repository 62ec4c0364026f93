"""``doctor``: is everything as it should be, what is not, and what mends it? And with ``fix``: mends it. The operator's.

The look (``doctor_looking``) changes no byte of the home and opens no store: each database is read as it lies, and one that cannot be opened does
not keep the others from being looked at. Mending (``doctor_mending``) goes from what is safe to what takes a copy first, then everything is looked
at again: what is answered is what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wesaid.errors import SettingError
from wesaid.service import opening
from wesaid.service.doctor_codes import CODES, Severity
from wesaid.service.doctor_looking import Progress, look_at
from wesaid.service.doctor_mending import Done, mend
from wesaid.service.opening import Home
from wesaid.settings import CONFIG_NAME, Settings
from wesaid.values import Flaw


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A flaw with what the table says of it. ``message`` names numbers, files and session keys, never what was said."""

    code: str
    severity: Severity
    message: str
    agent_id: str | None = None
    path: str | None = None
    advice: str | None = None  # what a person is to do, before the command or instead of one
    command: str | None = None

    def as_json(self) -> dict[str, str]:
        """Without what is absent."""
        named = {
            "code": self.code,
            "severity": self.severity,
            "agentId": self.agent_id,
            "message": self.message,
            "path": self.path,
            "advice": self.advice,
            "command": self.command,
        }
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was found (after mending: what is left), what was mended and what could not be, and each agent's figures."""

    findings: tuple[Finding, ...]
    mended: tuple[str, ...] = ()
    not_mended: tuple[str, ...] = ()
    agents: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def worst(self) -> Severity | None:
        """The worst severity; None when there is nothing to say."""
        found = {finding.severity for finding in self.findings}
        order: tuple[Severity, ...] = ("error", "warning", "note")
        return next((severity for severity in order if severity in found), None)

    def as_json(self) -> dict[str, Any]:
        """``{findings, mended, notMended, agents}``."""
        return {
            "findings": [finding.as_json() for finding in self.findings],
            "mended": list(self.mended),
            "notMended": list(self.not_mended),
            "agents": {agent: dict(figures) for agent, figures in self.agents.items()},
        }


def doctor_at(path: Path | None, *, fix: bool = False, progress: Progress | None = None) -> Report:
    """``doctor`` for a home that may not even open: its settings may be wrong, which is one more finding."""
    try:
        home = opening.open_home(path)
    except SettingError as error:
        with opening.open_home(path, chosen=Settings()) as home:
            report = doctor(home, progress=progress)
            return _with_wrong_settings(home, report, error, fix=fix)
    with home:
        return doctor(home, fix=fix, progress=progress)


def _with_wrong_settings(home: Home, report: Report, error: SettingError, *, fix: bool) -> Report:
    """Nothing is mended until they are right: what they hide is not known. So no finding may name a command that would mend it now."""
    told = home.clean(error)
    file = home.path / CONFIG_NAME
    where = f"edit {file}" if file.exists() else "set or unset the variable"
    wrong = Flaw(code="config.invalid", message=told.message, path=str(file) if file.exists() else None, advice=f"{where}; {told.hint}")
    later = tuple(
        replace(one, command=None, advice=f"when the setting is right: {one.command}") if one.command else one for one in report.findings
    )
    kept = ("nothing was mended: what the settings hide is not known while one of them is wrong",) if fix else ()
    return Report(findings=(_finding(home, None, wrong, None), *later), agents=report.agents, not_mended=kept)


def doctor(home: Home, *, fix: bool = False, progress: Progress | None = None) -> Report:
    """Look at everything; with ``fix`` mend what can be mended without losing anything, and look again.

    Raises:
        StoreError: the home itself cannot be listed. What is wrong with one agent is a finding.
    """
    look = look_at(home, progress)
    done: list[Done] = []
    if fix:
        done = list(mend(home, look, progress))
        before, look = look, look_at(home, progress)
        look.blocked = before.blocked
        look.found += [one for one in before.found if one[1].code in ("source.failed", "log.pinned") and one[1].code not in look.of(one[0])]
    found = [_finding(home, agent, flaw, look.blocked.get(agent)) for agent, flaw in look.found]
    found.sort(key=lambda finding: (("error", "warning", "note").index(finding.severity), finding.agent_id or ""))
    clean = home.redactor.redact
    return Report(
        findings=tuple(found),
        mended=tuple(clean(one.said) for one in done if one.is_mended),
        not_mended=tuple(clean(one.said) for one in done if not one.is_mended),
        agents=look.figures,
    )


def _finding(home: Home, agent: str | None, flaw: Flaw, blocked: str | None) -> Finding:
    """A flaw as the table has it. ``blocked``: what has to be done before anything of the agent can be mended."""
    row = CODES[flaw.code]
    clean = home.redactor.redact
    advice = flaw.advice or (blocked if row.mending in ("copies", "mends") else None)
    command = flaw.command or row.command
    return Finding(
        code=flaw.code,
        severity=row.severity,
        message=clean(flaw.message),
        agent_id=agent,
        path=clean(flaw.path) if flaw.path else None,
        advice=clean(advice) if advice else None,
        command=clean(command) if command else None,
    )


__all__ = ["Finding", "Report", "doctor", "doctor_at"]
