"""delete: with a real driver, a real worker and a job that runs."""

import json
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.terminal import on_terminal, script_of
from e2e.test_batches import as_json, submit
from weft import Client
from weft.core.errors import BatchNotFound

pytestmark = pytest.mark.heavy

ENDLESS = """
jobs:
  - {name: first, command: [sh, -c, "echo ready; sleep 1000"]}
  - {name: second, command: ['true'], parents: [first]}
  - {name: last, command: ['true'], parents: [second], always_run: true}
"""


def test_running_batch_is_deleted_with_all_of_it(weft: Weft, tmp_path: Path) -> None:
    batch, other = submit(weft, tmp_path, ENDLESS), submit(weft, tmp_path, "jobs: [{}]")
    with weft.started("logs", "-f", f"{batch}.j1") as follower:
        assert follower.stdout.readline() == b"ready\n"
        done = weft.run("delete", batch, "--yes", "--json")
    operation = json.loads(done.stdout)

    assert (done.returncode, operation["kind"], operation["state"]) == (
        0,
        "delete_batch",
        "success",
    )
    assert (operation["done"], operation["total"]) == (3, 3)
    assert weft.run("status", batch).returncode == 2
    assert weft.run("logs", f"{batch}.j1").returncode == 2
    assert weft.run("delete", batch, "--yes").returncode == 2
    assert weft.run("wait", other).returncode == 0
    weft.told("audit")


def test_deletion_is_asked_for_twice(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path, "jobs: [{}]")
    unasked = weft.run("delete", batch, "--json")
    with on_terminal(script_of("delete", batch), weft.environment()) as terminal:
        terminal.until(f"{batch}: 1 job")
        terminal.until("[y/N] ")
        terminal.type("n\n")
        assert terminal.finish() == 4
    assert as_json(weft, "status", batch)["n_jobs"] == 1
    with on_terminal(script_of("delete", batch), weft.environment()) as terminal:
        terminal.until("[y/N] ")
        terminal.type("y\n")
        terminal.until(f"{batch}: deleted")
        assert terminal.finish() == 0

    assert (unasked.returncode, json.loads(unasked.stderr)["code"]) == (2, "CLI.NOT_CONFIRMED")
    assert weft.run("status", batch).returncode == 2


def test_ctrl_c_at_the_question_deletes_nothing(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path, "jobs: [{}]")
    with on_terminal(script_of("delete", batch), weft.environment()) as terminal:
        terminal.until("[y/N] ")
        terminal.interrupt()
        terminal.until("weft: nothing was deleted")

        assert terminal.finish() == 130
    assert as_json(weft, "status", batch)["n_jobs"] == 1


def test_who_waits_for_a_batch_hears_that_it_was_deleted(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path, ENDLESS)
    with Client(home=weft.home) as client, weft.started("wait", batch) as waiting:
        found = client.get_batch(int(batch.removeprefix("b")))
        operation = found.delete()
        with pytest.raises(BatchNotFound):
            found.status()
        assert waiting.wait(60) == 2
    assert operation["state"] == "running"
