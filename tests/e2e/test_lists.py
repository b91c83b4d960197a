"""Waiting for several things, jobs by state, groups of a batch."""

import json
from pathlib import Path

import pytest

from e2e.conftest import Weft, lines

pytestmark = pytest.mark.heavy
FILE = """
name: lists
jobs:
  - {name: endless, command: [sleep, "600"], group: /s/t, groups: [pca]}
  - {name: wrong, command: ["false"]}
"""


@pytest.fixture
def batch(weft: Weft, tmp_path: Path) -> str:
    file = tmp_path / "p.yaml"
    file.write_text(FILE)
    return weft.run("submit", str(file)).stdout.decode().strip()


def test_wait_takes_several_targets_and_gives_up_in_time(weft: Weft, batch: str) -> None:
    late = weft.run("wait", f"{batch}.j2", batch, "--timeout", "500ms")
    assert late.returncode == 124
    assert [line for line in lines(late.stderr) if "run on" in line or "runs on" in line] == [
        "weft: not all has ended in time; the jobs run on"
    ]

    weft.run("cancel", batch)
    done = weft.run("wait", f"{batch}.j1", f"{batch}/s", batch, "--timeout", "2m")
    assert done.returncode == 1
    refused = weft.run("wait", batch, "--timeout", "soon")
    assert (refused.returncode, b"--timeout" in refused.stderr) == (2, True)


def test_jobs_by_state_and_groups_are_listed(weft: Weft, batch: str) -> None:
    weft.run("wait", f"{batch}.j2")
    failed = json.loads(weft.run("jobs", batch, "--state", "failed", "--json").stdout)
    groups = json.loads(weft.run("groups", batch, "--json").stdout)
    shown = weft.run("groups", batch).stdout.decode()
    weft.run("cancel", batch)

    assert [job["name"] for job in failed] == ["wrong"]
    assert [group["path"] or group["name"] for group in groups] == ["/s", "/s/t", "pca"]
    assert f"{batch}/s/t" in shown
    assert weft.run("jobs", batch, "--state", "happy").returncode == 2


def test_what_only_asks_does_so_without_an_event_loop(weft: Weft, batch: str) -> None:
    job = f"{batch}.j2"
    for words in (["ls"], ["status", batch], ["status", job], ["why", job], ["jobs", batch]):
        done = weft.run(*words, env={"PYTHONPROFILEIMPORTTIME": "1"})
        assert (done.returncode, b"asyncio" in done.stderr) == (0, False), words
    watched = weft.run("wait", job, env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert (watched.returncode, b"asyncio" in watched.stderr) == (1, True)
