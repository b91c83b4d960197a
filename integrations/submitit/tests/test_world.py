"""submitit as its users have it, on a real weft."""

import shlex
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".tools/submitit/bin/python"
GUIDE = ROOT / "docs/guides/with-submitit.md"
HERE = Path(__file__).parent
OF_OTHERS = (
    "requeuing or local_job or first_task or stdout or killed or cancel or setup or make_sub"
)
"""Several tasks in a job, what looks at a local process, and one that counts seconds."""
pytestmark = [pytest.mark.world(name="submitit"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "submitit"], check=True, cwd=ROOT)


@pytest.mark.parametrize(
    ("file", "chosen", "expected"),
    [("shipped.py", f"not ({OF_OTHERS})", "13 passed"), ("test_executor.py", "test", "9 passed")],
)
def test_its_own_suite_and_ours_pass(
    weft: Weft, tmp_path: Path, file: str, chosen: str, expected: str
) -> None:
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
            "--noconftest",
            "-c",
            "/dev/null",
            HERE / file,
            "-k",
            chosen,
        ],
        check=False,
        capture_output=True,
        text=True,
        env=weft.environment(),
        timeout=300,
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stdout[-5000:]
    assert expected in done.stdout


def run(
    weft: Weft, folder: Path, more: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the last of the three lines of the guide."""
    line = shlex.split(GUIDE.read_text().split("```")[1].splitlines()[-1])
    return subprocess.run(
        [PYTHON, *line[1:]],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=weft.environment(more),
        timeout=300,
    )


def test_the_lines_of_the_guide(weft: Weft, tmp_path: Path) -> None:
    assert run(weft, tmp_path).stdout == "1024\n"


@pytest.mark.parametrize(
    "change", [{"WEFT_TOKEN": "wrong"}, {"WEFT_URL": "http://127.0.0.1:9"}], ids=["token", "away"]
)
def test_a_server_that_refuses_is_said(weft: Weft, tmp_path: Path, change: dict[str, str]) -> None:
    told = run(weft, tmp_path, change).stderr

    assert "FailedSubmissionError: weft: " in told
    assert ("token is unknown" if "WEFT_TOKEN" in change else "cannot reach") in told
