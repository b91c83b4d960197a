"""weft in a fresh virtual environment, on each Python that it names, far from the checkout."""

import subprocess
from collections.abc import Iterator
from importlib.util import source_from_cache
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest

from contexts import scratch
from release.installed import INSTALL_S, Installed
from release.pythons import python_of

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
START_CPU_S = 0.2


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of the sources: pip builds in the directory itself."""
    copy = tmp_path_factory.mktemp("source") / "weft"
    copytree(ROOT, copy, ignore=ignore_patterns(".*", "__pycache__", "tests"))
    return copy


@pytest.fixture(scope="module", params=VERSIONS)
def installed(request: pytest.FixtureRequest, source: Path) -> Iterator[Installed]:
    """Give an environment in which `pip install '.[embedded]'` was run."""
    python = python_of(request.param)
    if python is None:
        pytest.skip(f"Python {request.param} is not installed")
    with scratch("weft-install-") as base:
        subprocess.run([python, "-m", "venv", base / "venv"], check=True, timeout=INSTALL_S)
        result = Installed(base / "venv", base)
        result.pip(f"{source}[embedded]")
        yield result


def check_one_life(installed: Installed) -> None:
    """Start, use and stop weft in a home of its own."""
    home = ("--home", str(installed.home / "weft-home"))
    installed.weft("up", "--detach", *home, "--port", "0")
    try:
        said = installed.weft("run", *home, "--", "echo", "hi")
        audited = installed.weft("audit", *home, "--json")
        examined = installed.weft("doctor", *home)
    finally:
        installed.weft("down", *home)

    assert said == "hi\n"
    assert '"rows":[{' not in audited
    assert "wrong" not in examined


def test_installed_from_source_and_wheel_it_lives(installed: Installed, built: Any) -> None:  # noqa: ANN401 (conftest.py cannot be imported)
    check_one_life(installed)
    installed.pip("--force-reinstall", "--no-deps", str(built.wheel))
    [package] = installed.venv.glob("lib/*/site-packages/weft")
    sources, compiled = ({*package.rglob(f"*.{kind}")} for kind in ("py", "pyc"))
    assert {Path(source_from_cache(str(one))) for one in compiled} == sources, "not compiled"
    check_one_life(installed)


def test_import_warns_of_nothing_and_requirements_agree(installed: Installed) -> None:
    modules = "weft, weft.aio, weft.cli.app, weft.run.up, weft.run.api, weft.run.worker"

    assert installed.python("-W", "error", "-c", f"import {modules}") == ""
    assert "No broken requirements" in installed.python("-m", "pip", "check")


def test_version_is_said_at_once(installed: Installed) -> None:
    """By the time of the processor, which does not depend on what else the machine does."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.argv[1], '--version'], check=True, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)\n"
    )
    program = str(installed.venv / "bin" / "weft")
    used = [float(installed.python("-c", code, program)) for _ in range(3)]

    assert min(used) < START_CPU_S
