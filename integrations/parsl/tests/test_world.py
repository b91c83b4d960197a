"""Parsl as its users have it, and its own tests, on a real weft."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from e2e.conftest import Weft, until

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".tools/parsl/bin/python"
GUIDE = ROOT / "docs/guides/with-parsl.md"
HERE = Path(__file__).parent
WITHIN_S = 500
LEFT_OUT = (
    "cleannet",  # they need FTP of the world outside
    "unix_filesystem_permissions_required",  # they fail as root with every executor
)
DESELECTED = ["test_error_handling/test_resource_spec.py::test_resource"]
"""It asks whether the executor is one of three classes of Parsl."""
PASSES = {"weft_calls": 142, "weft_blocks": 143}
SLEEPS = """
import parsl, weft_parsl
@parsl.python_app
def sleeps(file):
    import time
    open(file, "w").close()
    time.sleep(600)
parsl.load(parsl.Config(executors=[weft_parsl.WeftExecutor()]))
sleeps("started").result()
"""
pytestmark = [pytest.mark.world(name="parsl"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "parsl"], check=True, cwd=ROOT)


@pytest.fixture
def environment(weft: Weft, tmp_path: Path) -> dict[str, str]:
    home = {"HOME": str(tmp_path), "PATH": f"{PYTHON.parent}:{os.environ['PATH']}"}
    return weft.environment(home)


def suite(environment: dict[str, str], folder: Path, *arguments: object) -> str:
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [
            PYTHON,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:asyncio",
            "-c",
            "pytest.ini",
            "--timeout",
            "120",
            *map(str, arguments),
        ],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=WITHIN_S,
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def program(environment: dict[str, str], text: str, cwd: Path) -> Sequence[str]:
    """Run a program to its end; return its two outputs."""
    done = subprocess.run(
        [PYTHON, "-c", text],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=cwd,
        timeout=WITHIN_S,
    )
    return done.stdout, done.stderr


def test_executor_and_provider_keep_their_contracts(
    environment: dict[str, str], tmp_path: Path
) -> None:
    told = suite(environment, tmp_path, "--noconftest", HERE / "test_executor.py")

    assert "7 passed" in told, told


@pytest.mark.parametrize("config", PASSES)
def test_its_own_suite_passes(environment: dict[str, str], tmp_path: Path, config: str) -> None:
    (tests,) = (ROOT / ".tools/parsl/lib").glob("python*/site-packages/parsl/tests")
    skips = [f"--deselect={test}" for test in DESELECTED] if "calls" in config else []
    told = suite(
        environment,
        tmp_path,
        tests,
        "--rootdir",
        tests,
        *skips,
        "-k",
        " and ".join(f"not {name}" for name in LEFT_OUT),
        "--config",
        HERE / f"configs/{config}.py",
    )

    assert f"{PASSES[config]} passed" in told, told


@pytest.mark.parametrize("part", [1, 2], ids=["calls", "blocks"])
def test_the_programs_of_the_guide(environment: dict[str, str], tmp_path: Path, part: int) -> None:
    text = GUIDE.read_text().split("```python\n")[part].split("```")[0]
    out, err = program(environment, text, tmp_path)

    assert out == "[0, 1, 4, 9]\n", err


def test_a_killed_program_leaves_jobs_that_can_be_cancelled(
    weft: Weft, environment: dict[str, str], tmp_path: Path
) -> None:
    with subprocess.Popen([PYTHON, "-c", SLEEPS], env=environment, cwd=tmp_path) as process:
        until((tmp_path / "started").exists)
        process.kill()
    listed = json.loads(weft.run("ls", "state = running", "--json").stdout)
    (batch,) = [batch["id"] for batch in listed if str(batch["name"]).startswith("parsl-")]
    assert weft.run("cancel", f"b{batch}").returncode == 0
    assert weft.run("wait", f"b{batch}").returncode != 0


def test_a_token_that_is_refused_is_said(environment: dict[str, str], tmp_path: Path) -> None:
    _, err = program(environment | {"WEFT_TOKEN": "wrong"}, SLEEPS, tmp_path)

    assert "token" in err.splitlines()[-1] or "token" in err.splitlines()[-2], err
