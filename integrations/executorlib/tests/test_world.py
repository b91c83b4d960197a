"""executorlib as its users have it, on a real weft."""

import shlex
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".tools/executorlib/bin/python"
GUIDE = ROOT / "docs/guides/with-executorlib.md"
pytestmark = [pytest.mark.world(name="executorlib"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "executorlib"], check=True, cwd=ROOT)


def test_programs(weft: Weft, tmp_path: Path) -> None:
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
            Path(__file__).with_name("test_executor.py"),
        ],
        check=False,
        capture_output=True,
        text=True,
        env=weft.environment(),
        timeout=300,
        cwd=tmp_path,
    )

    assert "9 passed" in done.stdout, done.stdout[-5000:]


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
    ("change", "words"),
    [
        ({"WEFT_TOKEN": "wrong"}, "token is unknown"),
        ({"WEFT_URL": "http://127.0.0.1:9"}, "cannot reach"),
    ],
)
def test_a_server_that_refuses_is_said(
    weft: Weft, tmp_path: Path, change: dict[str, str], words: str
) -> None:
    done = run(weft, tmp_path, change)

    assert done.returncode == 1
    assert words in done.stderr
