"""Claims about ``wesaid.settings``: where values come from, and that nothing invalid is ever taken for something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from wesaid import settings
from wesaid.errors import SettingError


def load(tmp_path: Path, toml: str | None = None, **environ: str) -> settings.Settings:
    if toml is not None:
        (tmp_path / "config.toml").write_text(toml, encoding="utf-8")
    return settings.load(tmp_path, environ)


def test_a_home_without_a_file_has_the_defaults(tmp_path):
    """Nothing set anywhere, or no home at all: defaults, and each says so."""
    assert load(tmp_path / "absent") == settings.Settings()
    found = load(tmp_path)
    assert found.sessions_visibility == "tree"
    assert {source for _, _, source in found.explain()} == {"default"}
    assert [name for name, _, _ in found.explain()] == [row.name for row in settings.SETTINGS]


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path):
    """Each value has one source, and says which."""
    found = load(
        tmp_path,
        'timeZone = "Europe/Berlin"\n[sessions]\nvisibility = "agent"\nagentToAgent.enabled = false\n[import]\nignore = ["*.tmp", "private/**"]\n',
        WESAID_SESSIONS_VISIBILITY="self",
        WESAID_SESSIONS_AGENT_TO_AGENT_ALLOW="main, w*k",
    )
    assert found.sessions_visibility == "self"
    assert found.agent_to_agent_enabled is False
    assert found.agent_to_agent_allow == ("main", "w*k")
    assert found.import_ignore == ("*.tmp", "private/**")
    explained = {name: (value, source) for name, value, source in found.explain()}
    assert explained["sessions.visibility"] == ("self", "environment WESAID_SESSIONS_VISIBILITY")
    assert explained["timeZone"] == ("Europe/Berlin", "config.toml")
    assert explained["store.synchronous"] == ("NORMAL", "default")


def test_every_setting_has_a_variable_of_its_name():
    """The contract's own example, and the rule for the others."""
    assert {row.name: row.variable for row in settings.SETTINGS} == {
        "sessions.visibility": "WESAID_SESSIONS_VISIBILITY",
        "sessions.agentToAgent.enabled": "WESAID_SESSIONS_AGENT_TO_AGENT_ENABLED",
        "sessions.agentToAgent.allow": "WESAID_SESSIONS_AGENT_TO_AGENT_ALLOW",
        "sandbox.sessionToolsVisibility": "WESAID_SANDBOX_SESSION_TOOLS_VISIBILITY",
        "import.ignore": "WESAID_IMPORT_IGNORE",
        "timeZone": "WESAID_TIME_ZONE",
        "redaction.patterns": "WESAID_REDACTION_PATTERNS",
        "store.synchronous": "WESAID_STORE_SYNCHRONOUS",
    }


@pytest.mark.parametrize("row", settings.SETTINGS, ids=lambda row: row.name)
def test_the_table_and_the_defaults_agree(row):
    """Every row has a field, and its default is one of the allowed."""
    assert row.why
    assert row.allowed
    assert not row.choices or row.default in row.choices


@pytest.mark.parametrize(
    ("toml", "name", "says"),
    [
        ('sessions.visibility = "everything"', "sessions.visibility", "self | tree | agent | all"),
        ('sessions.visibility = "ALL"', "sessions.visibility", "self | tree | agent | all"),
        ("sessions.visibility = true", "sessions.visibility", "True"),
        ('sessions.agentToAgent.enabled = "no"', "sessions.agentToAgent.enabled", "true | false"),
        ("sessions.agentToAgent.enabled = 1", "sessions.agentToAgent.enabled", "true | false"),
        ('sessions.agentToAgent.allow = "main"', "sessions.agentToAgent.allow", "a list"),
        ("sessions.agentToAgent.allow = [1]", "sessions.agentToAgent.allow", "a list"),
        ('timeZone = "Mars/Olympus"', "timeZone", "Mars/Olympus"),
        ('timeZone = "../../etc/passwd"', "timeZone", "the name of a time zone"),
        ('timeZone = "Europe"', "timeZone", "the name of a time zone"),
        ('store.synchronous = "OFF"', "store.synchronous", "NORMAL | FULL"),
        ('sessions.visibilty = "self"', "sessions.visibilty", "no setting"),
        ('session.visibility = "self"', "session", "no setting"),
        ('sessions = "self"', "sessions", "no setting"),
        ("sessions.agentToAgent = false", "sessions.agentToAgent", "no setting"),
    ],
)
def test_an_invalid_file_stops_with_the_name_and_what_is_allowed(tmp_path, toml, name, says):
    """Never a fallback: the error names the setting, what was given and what may be."""
    with pytest.raises(SettingError) as caught:
        load(tmp_path, toml)
    assert caught.value.details["field"] == name
    assert name in caught.value.message
    assert says in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("WESAID_SESSIONS_VISIBILITY", "everything"),
        ("WESAID_SESSIONS_VISIBILITY", ""),
        ("WESAID_SESSIONS_AGENT_TO_AGENT_ENABLED", "maybe"),
        ("WESAID_SESSIONS_AGENT_TO_AGENT_ALLOW", " "),
        ("WESAID_SANDBOX_SESSION_TOOLS_VISIBILITY", "none"),
        ("WESAID_TIME_ZONE", "Nowhere"),
        ("WESAID_SESSION_VISIBILITY", "self"),
        ("WESAID_SESSIONS_VISIBILTY", "self"),
    ],
)
def test_an_invalid_variable_stops_even_where_the_file_is_valid(tmp_path, variable, value):
    """An empty or misspelt variable is no way back to something wider."""
    with pytest.raises(SettingError) as caught:
        load(tmp_path, 'sessions.visibility = "self"', **{variable: value})
    assert variable in caught.value.message


def test_variables_of_others_are_left_alone(tmp_path):
    """The store's own folder, a token, and what a test run sets are no settings and no errors."""
    assert (
        load(tmp_path, WESAID_HOME="/x", WESAID_TOKEN="t", WESAID_REQUIRE_ALL="1", WESAID_URL="ws://x", PATH="/bin") == settings.Settings()
    )


@pytest.mark.parametrize(("text", "value"), [("true", True), ("TRUE", True), ("1", True), ("false", False), ("0", False)])
def test_a_flag_in_the_environment_is_true_or_false(tmp_path, text, value):
    """The few spellings that leave no doubt."""
    assert load(tmp_path, WESAID_SESSIONS_AGENT_TO_AGENT_ENABLED=text).agent_to_agent_enabled is value


def test_a_broken_file_names_its_line(tmp_path):
    """Not TOML, a name twice, not UTF-8: the file, the line, and what to do."""
    for toml in ('[sessions]\nvisibility = "self\n', "[sessions]\nvisibility = self\n", "[import]\n[import]\n"):
        with pytest.raises(SettingError, match=r"config\.toml.*line 2") as caught:
            load(tmp_path, toml)
        assert caught.value.details["line"] == 2
    (tmp_path / "config.toml").write_bytes(b"\n\n# \xff\n")
    with pytest.raises(SettingError, match="line 3"):
        load(tmp_path)


def test_a_file_that_cannot_be_read_stops_the_program(tmp_path):
    """A folder in its place, or a file no person wrote, is no reason for defaults."""
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(SettingError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "large").mkdir()
    with pytest.raises(SettingError, match="longer than"):
        load(tmp_path / "large", "#" * 300_000)


def test_the_home_is_the_variable_or_the_users_data_folder(tmp_path, monkeypatch):
    """Set, it wins and is made absolute; unset, the platform decides; empty, it is an error."""
    assert settings.home_path({"WESAID_HOME": str(tmp_path)}) == tmp_path
    monkeypatch.chdir(tmp_path)
    assert settings.home_path({"WESAID_HOME": "store"}) == tmp_path / "store"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings.home_path({"WESAID_HOME": "~/store"}) == tmp_path / "store"
    assert settings.home_path({}).name == "wesaid"
    for given in ("", " ", "~nobody-of-this-name/x"):
        with pytest.raises(SettingError, match="WESAID_HOME"):
            settings.home_path({"WESAID_HOME": given})
