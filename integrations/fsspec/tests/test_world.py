"""fsspec and pandas as their users have them, on a real weft."""

import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".tools/fsspec/bin/python"
GUIDE = ROOT / "docs/guides/with-fsspec.md"
SUITE = Path(__file__).with_name("test_suite.py")
NEED_WRITING = "not recursive"
"""One test of fsspec's makes what it reads by itself."""
pytestmark = [pytest.mark.world(name="fsspec"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "fsspec"], check=True, cwd=ROOT)


def test_its_own_suite_and_ours_pass(weft: Weft) -> None:
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
            "-k",
            NEED_WRITING,
        ],
        check=False,
        capture_output=True,
        text=True,
        env=weft.environment(),
        timeout=300,
    )

    assert done.returncode == 0, done.stdout[-5000:]
    assert "144 passed" in done.stdout, done.stdout


def test_the_lines_of_the_guide(weft: Weft, tmp_path: Path) -> None:
    _, lines, _, document, *_ = GUIDE.read_text().split("```")
    (tmp_path / "numbers.json").write_text(document.removeprefix("json"))
    ref = weft.run("submit", "numbers.json", cwd=tmp_path).stdout.decode().strip()
    assert weft.run("wait", ref).returncode == 0
    done = subprocess.run(
        ["/bin/bash", "-ec", lines.splitlines()[-1].replace("b1.", f"{ref}.")],
        check=False,
        capture_output=True,
        text=True,
        env=weft.environment({"PATH": str(PYTHON.parent)}),
        timeout=300,
    )

    assert "45" in done.stdout, done.stderr
