"""Real clients of TES, on a real weft."""

import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".tools/tes/bin/python"
GUIDE = ROOT / "docs/guides/with-tes.md"
pytestmark = [pytest.mark.world(name="tes"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "tes"], check=True, cwd=ROOT)


def test_its_clients_call_it(weft: Weft, tmp_path: Path) -> None:
    done = subprocess.run(
        [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--noconftest",
         "-c", "/dev/null", Path(__file__).with_name("test_tes.py")],
        check=False, capture_output=True, text=True, env=weft.environment(), timeout=300,
        cwd=tmp_path,
    )  # fmt: skip

    assert "41 passed" in done.stdout, done.stdout[-5000:]


def test_the_line_of_the_guide(weft: Weft, tmp_path: Path) -> None:
    line = GUIDE.read_text().split("```")[1].strip().splitlines()[-1]
    (tmp_path / ".weft").symlink_to(weft.home)
    done = subprocess.run(
        ["sh", "-c", line.replace("python", str(PYTHON), 1)], check=False, capture_output=True,
        text=True, env={"HOME": str(tmp_path)}, timeout=120,
    )  # fmt: skip

    assert (done.stdout, done.stderr) == ("COMPLETE\n", "")
