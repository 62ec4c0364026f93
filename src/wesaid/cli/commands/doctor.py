"""``wesaid doctor``."""

from __future__ import annotations

from wesaid.cli.command import FAILED, FOUND, NOTHING, Run
from wesaid.cli.progress import progress
from wesaid.cli.render_doctor import report_lines
from wesaid.service import doctor

_CODES = {"error": FAILED, "warning": NOTHING, "note": FOUND, None: FOUND}


def execute(run: Run, *, fix: bool) -> int:
    """`wesaid doctor`; its exit code: 0 when nothing is worse than a note, 1 for warnings, 4 for errors."""
    with progress() as report:
        found = doctor.doctor_at(run.home, fix=fix, progress=report)
    if run.out.as_json:
        run.out.object(found.as_json())
    else:
        run.out.lines(report_lines(found, run.place), prose=True)
    return _CODES[found.worst]
