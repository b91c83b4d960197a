"""PSI/J as its users have it, on a real weft."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".tools/psij/bin/python"
GUIDE = ROOT / "docs/guides/with-psij.md"
HERE = Path(__file__).parent
WITHIN_S = 300
NOT_HERE = "test_doc_examples or test_issue_387 or test_executor_loading or test_nodefile"
"""They need files that are in PSI/J's repository alone."""
SUBMITS = """
import sys, psij
job = psij.Job(psij.JobSpec("/bin/sh", ["-c", "sleep 3; exit 3"]))
psij.JobExecutor.get_instance("weft").submit(job)
print(job.native_id, flush=True)
sys.stdin.read()
"""
ATTACHES = """
import sys, psij
job = psij.Job()
psij.JobExecutor.get_instance("weft").attach(job, sys.argv[1])
print(job.wait().message)
"""
pytestmark = [pytest.mark.world(name="psij"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "psij"], check=True, cwd=ROOT)


@pytest.fixture
def environment(weft: Weft, tmp_path: Path) -> dict[str, str]:
    home = {"HOME": str(tmp_path), "PATH": f"{PYTHON.parent}:{os.environ['PATH']}"}
    return weft.environment(home)


def suite(environment: dict[str, str], *arguments: object, cwd: Path) -> str:
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
            "/dev/null",
            "--timeout",
            "120",
            *map(str, arguments),
        ],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=WITHIN_S,
        cwd=cwd,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def test_the_executor_keeps_its_contract(environment: dict[str, str], tmp_path: Path) -> None:
    told = suite(environment, "--noconftest", HERE / "test_executor.py", cwd=tmp_path)

    assert "23 passed" in told, told


def test_its_own_suite_passes(environment: dict[str, str], tmp_path: Path) -> None:
    version = next(
        line
        for line in (ROOT / "requirements/psij.txt").read_text().splitlines()
        if line.startswith("psij-python")
    )
    fetch = [PYTHON, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*fetch, version.rstrip(" \\")], check=True, cwd=tmp_path)
    (archive,) = tmp_path.glob("psij*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path, filter="data")
    (tests,) = tmp_path.glob("psij*/tests")
    for name in ("conftest", "_test_tools", "executor_test_params"):
        (tests / f"{name}.py").symlink_to(HERE / "shipped.py")
    told = suite(environment, tests, "-k", f"not ({NOT_HERE})", cwd=tests)

    assert "44 passed" in told, told


def test_the_lines_of_the_guide(weft: Weft, environment: dict[str, str], tmp_path: Path) -> None:
    program = GUIDE.read_text().split("```python\n")[1].split("```")[0]
    done = subprocess.run(
        [PYTHON, "-c", program],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        timeout=WITHIN_S,
    )

    assert "COMPLETED" in done.stdout, done.stderr


def test_a_killed_program_leaves_jobs_that_another_finds(environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [PYTHON, "-c", SUBMITS],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        ref = process.stdout.readline().strip()
        process.kill()
    done = subprocess.run(
        [PYTHON, "-c", ATTACHES, ref],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
        timeout=WITHIN_S,
    )

    assert f"weft job {ref} failed" in done.stdout
    assert f"weft logs {ref}" in done.stdout


def test_a_token_that_is_refused_is_said(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [PYTHON, "-c", SUBMITS],
        check=False,
        capture_output=True,
        text=True,
        env=environment | {"WEFT_TOKEN": "wrong"},
        input="",
    )

    assert "SubmitException: weft: " in done.stderr
    assert "token" in done.stderr
