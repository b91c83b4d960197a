"""Each test is in a stage that somebody runs, and a stage of which all was skipped fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def test_skips_are_counted_and_a_stage_of_skips_alone_fails(tmp_path: Path) -> None:
    file = tmp_path / "test_engine.py"
    file.write_text("import pytest\n\ndef test_cluster():\n    pytest.skip('no cluster')\n")
    words = ["-p", "conftest", "-p", "no:schemathesis", "--rootdir", tmp_path, "--no-empty-stage"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, file], check=False, capture_output=True,
        text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(TESTS)},
    )  # fmt: skip

    assert "skipped: 1 — no cluster\nFAILED: no test of this stage passed" in done.stdout
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED
