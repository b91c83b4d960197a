"""scikit-learn and joblib on a real weft."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.world(name="joblib")
@pytest.mark.timeout(600)
def test_grid_search_finds_the_same_on_weft(weft: Weft, tmp_path: Path) -> None:
    subprocess.run([ROOT / "tools" / "environment.sh", "joblib"], check=True, cwd=ROOT)
    python, program = ROOT / ".tools/joblib/bin/python", Path(__file__).with_name("grid_search.py")
    (tmp_path / "data.csv").write_text("1,2\n")
    (tmp_path / "mytool").write_text("#!/bin/sh\n")
    (tmp_path / "mytool").chmod(0o755)
    done = subprocess.run(
        [python, program],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        env=weft.environment(
            {
                "MYVAR": "mine",
                "HOME": str(tmp_path),
                "PATH": f"{tmp_path}:{os.environ['PATH']}",
            }
        ),
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)

    assert said["places"]["weft"] == said["places"]["loky"]
    assert said["places"]["weft"][0] == [
        "mine",
        str(tmp_path),
        str(tmp_path / "mytool"),
        "1,2\n",
    ]
    assert said["scores"]["weft"] == said["scores"]["sequential"]
    assert [square for square, _, _ in said["seen"]] == [number**2 for number in range(30)]
    ((batch, threads),) = {tuple(places) for _, *places in said["seen"]}
    assert threads == "3"
    assert json.loads(weft.run("status", "--json", batch).stdout)["name"] == "calls"
    assert said["absolute"] == [3, 2, 1]
    assert (said["raised"], said["again"]) == ("three", [0, 1, 2])
