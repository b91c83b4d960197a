"""hold and release, with a real driver and a real worker."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.conftest import Started, Weft, as_json
from e2e.test_batches import submit
from weft import Client

pytestmark = pytest.mark.heavy

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
    weft.told("audit")


def add_jobs(weft: Weft, batch: str, *commands: list[str]) -> None:
    with Client(home=weft.home) as client:
        builder = client.update_batch(int(batch.removeprefix("b")))
        for command in commands:
            builder.create_job(command)
        builder.submit()


@contextmanager
def full_worker(weft: Weft, tmp_path: Path) -> Iterator[str]:
    """Give a batch whose first job has all of the worker, and whose second waits for it."""
    cpu = as_json(weft, "top")["workers"][0]["cpu"]
    all_of_it = f"{{command: [sleep, '1000'], name: whole, resources: {{cpu: {cpu}}}}}"
    batch = submit(weft, tmp_path, f"jobs: [{all_of_it}]")
    try:
        with weft.started("logs", "-f", f"{batch}.j1"):
            while as_json(weft, "status", f"{batch}.j1")["state"] != "running":
                pass
            # Nothing is claimed ahead by a worker whose only job has run for so long.
            add_jobs(weft, batch, ["date"])
            yield batch
    finally:
        weft.run("cancel", batch)


def first_line(process: Started) -> str:
    return process.stderr.readline().decode()


def test_a_hold_is_seen_wherever_the_batch_is(weft: Weft, tmp_path: Path) -> None:
    with full_worker(weft, tmp_path) as batch:
        weft.run("hold", batch)
        shown = {
            name: weft.run(*words).stdout.decode()
            for name, words in {
                "ls": ["ls", "-n", "1"],
                "jobs": ["jobs", batch],
                "status": ["status", batch],
                "job": ["status", f"{batch}.j2"],
                "top": ["top"],
            }.items()
        }
        with weft.started("wait", f"{batch}.j2") as waiting:
            told = first_line(waiting)
        weft.run("release", batch)

    for name in ("ls", "status", "top"):
        assert "running (held)" in shown[name], name
    assert "ready (held)" in shown["jobs"]
    assert "ready (held)" in shown["job"]
    (change,) = (line for line in shown["job"].splitlines() if "held: batch" in line)
    assert "ready" not in change
    assert told == (f"weft: {batch}.j2 waits: {batch} is held; `weft release {batch}`\n")


def test_who_waits_for_a_full_worker_is_told_so(weft: Weft, tmp_path: Path) -> None:
    with full_worker(weft, tmp_path) as batch:
        (worker, _) = as_json(weft, "top")["workers"]
        top = weft.run("top").stdout.decode()
        with weft.started("run", "--", "date") as running:
            told = first_line(running)
            running.send_signal(2)
            running.wait()
        with weft.started("wait", f"{batch}.j2") as waiting:
            waits = first_line(waiting)

    assert (worker["cpu_used"], worker["n_running"]) == (worker["cpu"], 1)
    assert [(f"b{job['batch_id']}", job["name"]) for job in worker["jobs"]] == [(batch, "whole")]
    assert "waits for a worker with room: it needs " in told
    assert waits.startswith(f"weft: {batch}.j2 waits for a worker with room: it needs ")
    assert f"{batch}.j1  whole" in top


def test_who_holds_what_has_ended_is_told(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path, "jobs: [{command: ['true']}]")
    weft.run("wait", batch)
    told = weft.run("hold", f"{batch}.j1", batch).stderr.decode().splitlines()

    assert told == [
        f"weft: {batch}.j1 had ended (success): nothing to hold",
        f"weft: {batch}: held",
        f"weft: {batch} had ended: only jobs that are submitted later will wait",
    ]
