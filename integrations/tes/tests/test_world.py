"""Real clients of TES, on a real weft."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".tools/tes/bin/python"
TOIL = ROOT / ".tools/toil-tes/bin"
GUIDE = ROOT / "docs/guides/with-tes.md"
pytestmark = [pytest.mark.world(name="tes"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    for name in ("tes", "toil-tes"):
        subprocess.run([ROOT / "tools/environment.sh", name], check=True, cwd=ROOT)


def passed(python: Path, file: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Run tests in the environment of a client; return what pytest says of them."""
    done = subprocess.run(
        [
            python,
            "-m",
            "pytest",
            "-q",
            "-W",
            "ignore",
            "-p",
            "no:cacheprovider",
            "--noconftest",
            "-c",
            "/dev/null",
            Path(__file__).with_name(file),
        ],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        cwd=folder,
    )
    return done.stdout[-5000:]


def test_its_clients_call_it(weft: Weft, tmp_path: Path) -> None:
    assert "42 passed" in passed(PYTHON, "test_tes.py", tmp_path, weft.environment())


def test_the_batch_system_of_toil_passes_its_own_tests(weft: Weft, tmp_path: Path) -> None:
    known = json.loads((weft.home / "client.json").read_bytes())
    environment = weft.environment(
        {
            "TOIL_TES_ENDPOINT": f"{known['url']}/ga4gh/tes/1.0",
            "TOIL_TES_BEARER_TOKEN": known["token"],
            "PATH": f"{TOIL}:{os.environ['PATH']}",
        }
    )

    assert "6 passed" in passed(TOIL / "python", "test_toil.py", tmp_path, environment)


def test_the_line_of_the_guide(weft: Weft, tmp_path: Path) -> None:
    line = GUIDE.read_text().split("```")[1].strip().splitlines()[-1]
    (tmp_path / ".weft").symlink_to(weft.home)
    done = subprocess.run(
        ["sh", "-c", line.replace("python", str(PYTHON), 1)],
        check=False,
        capture_output=True,
        text=True,
        env={"HOME": str(tmp_path)},
        timeout=120,
    )

    assert (done.stdout, done.stderr) == ("COMPLETE\n", "")
