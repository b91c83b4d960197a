"""An agent's client, on a real weft."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".tools/mcp/bin/python"
GUIDE = ROOT / "docs/guides/with-mcp.md"
pytestmark = [pytest.mark.world(name="mcp"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    subprocess.run([ROOT / "tools/environment.sh", "mcp"], check=True, cwd=ROOT)


def test_the_client_of_the_sdk_calls_it(weft: Weft, tmp_path: Path) -> None:
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
            Path(__file__).with_name("test_server.py"),
        ],
        check=False,
        capture_output=True,
        text=True,
        env=weft.environment(),
        timeout=300,
        cwd=tmp_path,
    )

    assert "10 passed" in done.stdout, done.stdout[-5000:]


def test_the_lines_of_the_guide(weft: Weft) -> None:
    _, lines, _, configuration, *_ = GUIDE.read_text().split("```")
    program = json.loads(configuration.removeprefix("json"))["mcpServers"]["weft"]
    assert lines.splitlines()[-1] == program["command"]
    done = subprocess.run(
        [program["command"], *program["args"]],
        check=False,
        capture_output=True,
        text=True,
        env=weft.environment({"PATH": f"{PYTHON.parent}:{os.environ['PATH']}"}),
        input="",
        timeout=60,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
