"""`weft export crate`, and the public validator."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import PROGRAM, Weft

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs/guides/production-lines.md"
pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Give the command that asks the validator, without the crate and the weight."""
    subprocess.run([ROOT / "tools" / "environment.sh", "crate"], check=True, cwd=ROOT)
    cache = tmp_path_factory.mktemp("cache")
    python = str(ROOT / ".tools/crate/bin/python")
    return [python, str(ROOT / "tests/e2e/crate_validator.py"), str(cache)]


def issues(checker: list[str], crate: Path, weight: str = "REQUIRED") -> list[str]:
    done = subprocess.run([*checker, crate, weight], check=False, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    told: dict[str, Any] = json.JSONDecoder().raw_decode(done.stdout.decode())[0]  # a log follows
    assert told["main"] == "workflow.json"
    assert told["checks"] > 60
    found: list[str] = told["issues"]
    return found


def test_public_validator_accepts_the_crate_of_the_guide(
    weft: Weft, checker: list[str], tmp_path: Path
) -> None:
    (block,) = re.findall(
        r"^```console\n(\$ cat > two.json.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "weft").write_text(f'#!/bin/sh\nexec {" ".join(PROGRAM)} "$@"\n')
    (tmp_path / "weft").chmod(0o700)
    script = "set -e\n" + re.sub(r"^\$ ", "", block, flags=re.MULTILINE)
    path = f"{tmp_path}:/usr/bin:/bin"
    done = subprocess.run(
        ["sh", "-c", script],
        check=False,
        capture_output=True,
        cwd=tmp_path,
        timeout=120,
        env=weft.environment({"PATH": path}),
    )
    assert done.returncode == 0, done.stderr.decode()

    crate = tmp_path / "crate"
    assert issues(checker, crate) == []
    # Not: a README, an address and a version of each program, an organisation.
    recommended = " ".join(issues(checker, crate, "RECOMMENDED"))
    assert "ISO 8601" not in recommended
    assert "singleton" not in recommended
    (left,) = (crate / "jobs/1").iterdir()
    assert left.name == "count.txt"
    assert weft.run("submit", str(crate / "workflow.json"), "--dry-run").returncode == 0

    # What the validator is for: it does not take everything.
    metadata = json.loads((crate / "ro-crate-metadata.json").read_text())
    for one in metadata["@graph"]:
        one.pop("instrument", None)
    (crate / "ro-crate-metadata.json").write_text(json.dumps(metadata))
    assert any("instrument" in one for one in issues(checker, crate))


def test_crate_without_files_and_what_is_refused(
    weft: Weft, checker: list[str], tmp_path: Path
) -> None:
    document = {"jobs": [{"command": ["false"]}, {"command": ["true"], "parents": [1]}]}
    (tmp_path / "a.json").write_text(json.dumps(document))
    batch = weft.run("submit", str(tmp_path / "a.json")).stdout.decode().split()[0]
    weft.run("wait", batch)
    done = weft.told("export", "crate", batch, "out", "--json", cwd=tmp_path)
    assert json.loads(done)["n_jobs"] == 2
    assert issues(checker, tmp_path / "out") == []
    again = weft.run("export", "crate", batch, "out", "--json", cwd=tmp_path)
    assert json.loads(again.stderr)["code"] == "CLI.FILE_IN_THE_WAY"
    held = weft.run("run", "--detach", "--", "sleep", "60").stdout.decode().split()[0]
    early = weft.run("export", "crate", held, "early", "--json", cwd=tmp_path)
    assert json.loads(early.stderr)["code"] == "CLIENT.NOT_ENDED"
    weft.run("cancel", held)
