"""Hydra as its users type it, on a real weft."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".tools/hydra/bin/python"
GUIDE = ROOT / "docs/guides/with-hydra.md"
SUITE = Path(__file__).with_name("test_launcher.py")
pytestmark = [pytest.mark.world(name="hydra"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "hydra"], check=True, cwd=ROOT)


def run(
    weft: Weft, folder: Path, values: str, more: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run the program of the guide by its last line."""
    _, lines, _, program, *_ = GUIDE.read_text().split("```")
    (folder / "my_app.py").write_text(program.removeprefix("python\n"))
    line = lines.splitlines()[-1].replace("x=1,2,3", f"+x={values}")
    return subprocess.run(
        [PYTHON, *shlex.split(line)[1:]],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=weft.environment(more),
        timeout=300,
    )


def test_its_own_suites_pass(weft: Weft, tmp_path: Path) -> None:
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
            SUITE,
        ],
        check=False,
        capture_output=True,
        text=True,
        env=weft.environment(),
        timeout=300,
        cwd=tmp_path,
    )

    assert "21 passed" in done.stdout, done.stdout[-5000:]


def test_jobs_leave_their_outputs_here(weft: Weft, tmp_path: Path) -> None:
    done = run(weft, tmp_path, "1,2,3")

    assert done.returncode == 0, done.stderr
    overrides = sorted(tmp_path.glob("multirun/*/*/*/.hydra/overrides.yaml"))
    assert [file.read_text() for file in overrides] == [f"- +x={x}\n" for x in (1, 2, 3)]


def test_a_job_that_fails_is_told_where_users_look(weft: Weft, tmp_path: Path) -> None:
    done = run(weft, tmp_path, "1,0")
    told = re.search(
        r"weft job (b\d+\.j2) failed: ZeroDivisionError.*\n  .*weft logs \1",
        done.stdout,
        re.DOTALL,
    )

    assert done.returncode == 1
    assert told is not None, done.stdout
    assert b"failed" in weft.run("status", told[1]).stdout


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
    done = run(weft, tmp_path, "1,2", change)

    assert done.returncode == 1
    assert words in done.stderr
    assert "weft: " in done.stderr
    assert "Traceback" not in done.stderr
