"""The repository keeps what its pages say: commands, extras, fragments, decisions, links, and no hosts or locks."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click import Context

from contract.requirements import ROWS
from wesaid.cli.program import program

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {"gateway", "mcp", "watch", "semantic", "semantic-best", "tui", "postgres"}
KINDS = {"security", "removed", "deprecated", "added", "changed", "fixed"}
# Put together here, so that this file does not hold what it looks for.
HOSTS = tuple(
    ".".join(parts) for parts in (("pypi", "org"), ("files", "pythonhosted"), ("registry", "npmjs"), ("npmjs", "com"), ("deb", "debian"))
)
LOCKS = {"uv.lock", "pylock.toml", "poetry.lock", "Pipfile.lock", "pdm.lock", "package-lock.json", "yarn.lock", "requirements.txt"}
OUTSIDE = re.compile(r"(?:\.\./|/work/)" + "shared")


def tracked() -> list[Path]:
    """Files of the repository: tracked ones and new ones that nothing ignores."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git clone; clone it with: git clone")
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def text(path: Path) -> str:
    """A file's text, whatever bytes it has."""
    return path.read_bytes().decode("utf-8", "replace")


def targets() -> set[str]:
    """Names of the Makefile's targets."""
    return set(re.findall(r"^([a-z][a-z-]*):", text(ROOT / "Makefile"), re.MULTILINE))


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "demo/README.md"])
def test_every_make_command_of_a_page_exists(page: str) -> None:
    """A page names no ``make`` target that the Makefile lacks."""
    named = set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text(ROOT / page), re.MULTILINE))
    assert named - targets() == set()
    assert named


def test_every_phony_target_is_there() -> None:
    """.PHONY and the targets are the same list, and ``make help`` names what people type."""
    makefile = text(ROOT / "Makefile")
    phony = set(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split())
    assert phony == targets()


def test_the_contract_has_its_commands() -> None:
    """The commands that users rely on are targets."""
    assert {"demo", "test", "check", "bench", "bench-search", "bench-append", "bench-import"} <= targets()


def test_the_readme_shows_the_two_commands_on_its_first_screen() -> None:
    """``make demo`` and ``make test`` stand before the first section."""
    first_screen = text(ROOT / "README.md").partition("\n## ")[0]
    assert "make demo" in first_screen
    assert "make test" in first_screen


def test_ci_runs_the_readmes_test_command_with_nothing_skipped() -> None:
    """.ci/run ends with ``make test`` under WESAID_REQUIRE_ALL=1."""
    assert text(ROOT / ".ci" / "run").rstrip().splitlines()[-1] == "WESAID_REQUIRE_ALL=1 make test"


def test_every_extra_of_the_contract_is_declared() -> None:
    """The extras have their fixed names, and ``all`` is all of them."""
    extras = PROJECT["optional-dependencies"]
    assert set(extras) >= EXTRAS | {"all"}
    assert set(re.findall(r"[a-z-]+", extras["all"][0].partition("[")[2])) == EXTRAS


def test_every_dependency_has_its_reason() -> None:
    """Each core dependency is named in a decision."""
    reasons = text(ROOT / "docs" / "decisions" / "0001-dependencies.md")
    names = [re.split(r"[<>=\[]", dependency)[0] for dependency in PROJECT["dependencies"]]
    assert [name for name in names if f"`{name}`" not in reasons] == []


def test_every_changelog_fragment_is_named_for_its_issue_and_kind() -> None:
    """``<issue>.<kind>.md``, and not empty."""
    fragments = [path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    wrong = [p.name for p in fragments if not re.fullmatch(rf"\d+\.({'|'.join(sorted(KINDS))})\.md", p.name) or not text(p).strip()]
    assert wrong == []


def test_every_decision_gives_context_choice_and_price_and_is_in_the_index() -> None:
    """A decision page has its three headings, a number of its own, and a row in the index."""
    pages = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    index = text(ROOT / "docs" / "decisions" / "README.md")
    for page in pages:
        assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", page.name), page.name
        headings = re.findall(r"^## (\w+)", text(page), re.MULTILINE)
        assert {"Context", "Choice", "Price"} <= set(headings), page.name
        assert f"({page.name})" in index, page.name
    assert len({page.name[:4] for page in pages}) == len(pages)


def test_no_registry_host_is_named_and_no_lock_is_kept() -> None:
    """Nothing in the tree depends on where packages come from today."""
    for path in tracked():
        assert path.name not in LOCKS, path
        content = text(path)
        assert [host for host in HOSTS if host in content] == [], path


def test_nothing_that_runs_reads_outside_the_repository() -> None:
    """No source, test, demo or script needs a folder beside the clone."""
    runs = [p for p in tracked() if p.relative_to(ROOT).parts[0] in {"src", "tests", "demo", "scripts", ".ci", "Makefile"}]
    assert [str(path) for path in runs if OUTSIDE.search(text(path))] == []


def test_every_link_of_a_page_leads_somewhere() -> None:
    """Relative links in Markdown point to files that exist."""
    for page in [path for path in tracked() if path.suffix == ".md"]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text(page)):
            if "://" not in target and not target.startswith("mailto:"):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} → {target}"


@pytest.mark.parametrize(
    ("page", "now", "later"), [("docs/session-search.md", "now", "later"), ("docs/vi/session-search.md", "có", "chưa")]
)
def test_the_page_of_promises_says_all_of_them_and_which_are_kept(page: str, now: str, later: str) -> None:
    """Each row of the contract is on the page, in order, and says truly whether it is kept today."""
    rows = re.findall(r"^\| `([a-z.-]+)` \| .+ \| (\S+) \|$", text(ROOT / page), re.MULTILINE)
    assert rows == [(row.id, later if row.waits else now) for row in ROWS]


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text(ROOT / page), re.MULTILINE | re.DOTALL)


def test_the_readmes_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python example finds what it wrote and opens the conversation around it."""
    monkeypatch.setenv("WESAID_HOME", str(tmp_path / "home"))
    [example] = blocks("README.md", "python")
    names: dict[str, Any] = {}

    exec(compile(example, "README.md", "exec"), names)

    assert [message.text for message in names["around"].messages] == ["we moved the ferry timetable to Postgres"]


@pytest.mark.parametrize("page", ["README.md", "docs/session-search.md", "docs/vi/session-search.md"])
def test_every_wesaid_command_of_a_page_exists_with_its_options(page: str) -> None:
    """Each ``wesaid`` line of a shell block names a command that there is and options that it has."""
    lines = [line for block in blocks(page, "sh") + blocks(page, "text") for line in block.splitlines()]
    typed = [shlex.split(match[1], comments=True) for line in lines if (match := re.match(r"(?:\$ |\.venv/bin/)?wesaid (.+)", line))]
    for words in typed:
        if words[0] == "--help":
            continue
        command = program.get_command(Context(program), words[0])
        assert command is not None, words
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        assert [word for word in words if word.startswith("--") and word not in known] == [], words
    assert typed or page == "docs/session-search.md"
