"""A door of a foreign package: it registers by an entry point, and every role finds its part."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from api import line_door
from plugins.package import install
from weft.cli.app import all_commands, run_command
from weft.ports.plugins import PluginGroup
from weft.run.doors import api_doors, callback_forms, client_doors, installed_doors


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the door of lines, which nobody has without its package."""
    assert "lines-config" not in all_commands()
    install(tmp_path / "site", monkeypatch, doors="lines = api.line_door:DOOR")
    for found in (installed_doors, api_doors):
        found.cache_clear()
    yield
    for found in (installed_doors, api_doors):
        found.cache_clear()


@pytest.mark.usefixtures("installed")
def test_each_role_gets_its_part_of_an_installed_door() -> None:
    document = {"name": "nightly", "state": "success"}

    for group in (name for name in entry_points().groups if name.startswith("weft.")):
        assert PluginGroup(group, "").names() == tuple(sorted(entry_points(group=group).names))
    assert line_door.DOOR in installed_doors()
    assert line_door.SERVED in api_doors()
    assert callback_forms()["lines"].document(document, "k") == "nightly success k"
    assert client_doors()["lines-config"] is line_door.DOOR


@pytest.mark.usefixtures("installed")
def test_the_command_line_offers_what_an_installed_door_brings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WEFT_URL", "http://weft.example:9")
    monkeypatch.setenv("WEFT_TOKEN", "t")
    folder = tmp_path / "lines"

    assert all_commands()["lines-config"] == "Write a key."
    assert run_command(["lines-config", "--help"]) == 0
    assert "Write a key to a file." in capsys.readouterr().out
    assert run_command(["lines-config", str(folder)]) == 0
    assert (folder / "key.txt").read_text() == "t"
    assert (folder / "key.txt").stat().st_mode & 0o777 == 0o600
    assert "export LINES_URL=http://weft.example:9" in (folder / "env").read_text()
    assert "unset" not in (folder / "env").read_text()
