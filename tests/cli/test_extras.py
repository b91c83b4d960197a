"""Without the packages of an extra all else works, and what needs them names the extra."""

import ast
import subprocess
import sys
from importlib.metadata import distribution, packages_distributions

import pytest

from tidy.source_files import nodes_of, python_files
from weft.cli.app import run_command
from weft.core.errors.extras import EXTRA_OF

OF_NO_EXTRA = {"attrs", "pandas", "pytest", "ray", "sklearn"}
"""What a dependency brings, or only those call who have it."""
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


def test_each_package_that_is_imported_is_everybodys_or_an_extras() -> None:
    paths = python_files("src")
    nodes = [node for path in paths for node in nodes_of(path, ast.Import)]
    names = [one.name for node in nodes for one in node.names]
    names += [str(node.module) for path in paths for node in nodes_of(path, ast.ImportFrom)]
    tops = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"weft"}
    lines = distribution("weft").requires or ()
    everybodys = {line.partition(">")[0] for line in lines if "extra ==" not in line}
    owners = packages_distributions()
    others = {
        top
        for top in tops
        if everybodys.isdisjoint(one.lower().replace("_", "-") for one in owners.get(top, ()))
    }

    assert others - OF_NO_EXTRA <= set(EXTRA_OF)
    assert {extra for extra in EXTRA_OF.values() if f"'{extra}'" not in str(lines)} == set()


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
