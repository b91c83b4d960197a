"""hold and release, with a real driver and a real worker."""

from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.test_batches import as_json, submit
from weft import Client

pytestmark = pytest.mark.slow

STAGES = """
jobs:
  - {name: first, command: [echo, first], group: /one}
  - {name: second, command: [echo, second], group: /two, parents: [first]}
  - {name: third, command: [echo, third], group: /two}
"""


def test_a_set_is_called_as_a_tree_group_is(weft: Weft, tmp_path: Path) -> None:
    document = """
groups: [{name: pca}, {path: /stage}]
jobs:
  - {command: ['true'], group: /stage, groups: [pca]}
  - {command: ['false'], group: /stage}
"""
    batch = submit(weft, tmp_path, document)
    waited = weft.run("wait", f"{batch}/pca")
    failed = weft.run("wait", f"{batch}/stage")
    shown = weft.run("status", f"{batch}/pca").stdout.decode()

    assert (waited.returncode, failed.returncode) == (0, 1)
    assert f"{batch}/pca: success; 1 succeeded" in waited.stderr.decode()
    assert f"{batch}/stage: failure; 1 succeeded, 1 failed" in failed.stderr.decode()
    assert shown.split()[:2] == ["Group", f"{batch}/pca"]
    assert weft.run("cancel", f"{batch}/pca").returncode == 0
    assert weft.run("wait", f"{batch}/nothing").returncode == 2


def test_a_held_stage_waits_while_the_rest_runs(weft: Weft, tmp_path: Path) -> None:
    gate = submit(weft, tmp_path, "jobs: [{command: ['true']}]")
    assert weft.run("hold", gate).returncode == 0
    batch = submit(weft, tmp_path, STAGES)
    # Whatever had started by then goes on.
    assert weft.run("hold", f"{batch}/two").returncode == 0
    assert weft.run("wait", f"{batch}.j1").returncode == 0
    again = weft.run("hold", f"{batch}/two", "--json")
    weft.run("hold", f"{batch}.j2")
    freed = weft.run("release", f"{batch}/two")
    job = as_json(weft, "status", f"{batch}.j2")

    assert b'"was_held":true' in again.stdout
    assert freed.returncode == 0
    assert f"{batch}/two: released" in freed.stderr.decode()
    assert job["held"] or job["state"] == "success"
    assert weft.run("release", f"{batch}.j2").returncode == 0
    assert weft.run("wait", batch).returncode == 0
    assert weft.run("wait", f"{batch}.j2").returncode == 0
    held = as_json(weft, "status", gate)
    assert (held["held"], held["n_ready"], held["n_running"]) in {(True, 1, 0), (True, 0, 0)}
    assert weft.run("release", gate).returncode == 0
    assert weft.run("wait", gate).returncode == 0
    assert weft.run("audit").returncode == 0


def test_what_is_submitted_to_a_held_batch_starts_when_it_is_released(
    weft: Weft, tmp_path: Path
) -> None:
    batch = submit(weft, tmp_path, "jobs: [{command: ['true']}]")
    weft.run("wait", batch)
    weft.run("hold", batch)
    with Client(home=weft.home) as client:
        builder = client.update_batch(int(batch.removeprefix("b")))
        for _ in range(50):
            builder.create_job(["true"])
        builder.submit()
    status = as_json(weft, "status", batch)

    assert (status["held"], status["n_ready"], status["n_succeeded"]) == (True, 50, 1)
    weft.run("release", batch)
    assert weft.run("wait", batch).returncode == 0
    assert as_json(weft, "status", batch)["n_succeeded"] == 51
