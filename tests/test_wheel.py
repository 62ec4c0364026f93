"""The built wheel: what is in it, and that it runs in a fresh environment."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built offline with the builder that is installed."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True, capture_output=True
    )
    [built] = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """Every module of src, the typing marker and the licence are in; tests, benches and samples are not."""
    names = set(zipfile.ZipFile(wheel).namelist())
    ours = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "wesaid").rglob("*")
        if path.suffix in {".py", ".pyi", ".typed", ".sql"}
    }
    assert ours | {"wesaid/py.typed"} <= names
    assert {name.split("/")[0] for name in names if not name.split("/")[0].endswith(".dist-info")} == {"wesaid"}
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_the_wheel_runs_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    """Installed offline, ``wesaid`` and ``python -m wesaid`` start, and a message that one wrote the other finds."""
    fresh = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(fresh)], check=True, capture_output=True)
    python, program = fresh / "bin" / "python", fresh / "bin" / "wesaid"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True)
    # The dependencies are those of this environment: a path file lends them, so that no network is needed.
    [packages] = fresh.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "WESAID_HOME": str(tmp_path / "home"), "LC_ALL": "C.UTF-8"}

    def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)

    where = run(python, "-c", "import wesaid; print(wesaid.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(packages), where.stderr
    for command in ([program, "--help"], [python, "-m", "wesaid", "--help"]):
        shown = run(*command)
        assert (shown.returncode, shown.stderr) == (0, "")
        assert "search" in shown.stdout
    written = run(program, "append", "agent:main:main", "--role", "user", "the gangway is narrow")
    assert written.returncode == 0, written.stderr
    found = run(python, "-m", "wesaid", "search", "gangway", "--json")
    assert (found.returncode, "gangway" in found.stdout) == (0, True), found.stderr
