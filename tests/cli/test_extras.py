"""Without the packages of an extra all else works, and what needs them names the extra."""

import re
import subprocess
import sys

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
