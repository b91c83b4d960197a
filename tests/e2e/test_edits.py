"""Batches that are edited, deleted and changed together from the command line, and
`set --priority`, with a real driver and a real worker.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Weft, as_json
from e2e.terminal import on_terminal, script_of
from e2e.test_batches import submit
from weft import Client
from weft.core.errors import BadQuery, BatchNotFound, JobEnded, WrongType

pytestmark = pytest.mark.heavy


def test_names_and_attributes_of_what_is_there(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path)
    done = weft.run("rename", batch, "second try")
    weft.run("rename", f"{batch}/count", "counted")
    weft.run("rename", f"{batch}.j1", "first")
    weft.run("set", batch, "cohort=scz1", "owner=ada")
    batch_now = as_json(weft, "set", batch, "owner=")
    job_now = as_json(weft, "set", f"{batch}.j1", "k=v=w")

    assert (done.returncode, done.stdout) == (0, b"")
    assert f"{batch}: named second try" in done.stderr.decode()
    assert (batch_now["name"], batch_now["attributes"]) == ("second try", {"cohort": "scz1"})
    assert (job_now["name"], job_now["attributes"]) == ("first", {"k": "v=w"})
    assert as_json(weft, "status", f"{batch}/counted")["n_jobs"] == 2
    assert weft.run("status", f"{batch}/count").returncode == 2
    assert batch in [f"b{one['id']}" for one in as_json(weft, "ls", "--name", "second try")]
    assert "edited" in weft.run("status", f"{batch}.j1", "--json").stdout.decode()


def test_what_is_no_attribute_and_a_name_that_is_taken(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path)
    wrong = weft.run("set", batch, "cohort", "--json")
    taken = weft.run("rename", f"{batch}/count", "merge", "--json")

    assert (wrong.returncode, json.loads(wrong.stderr)["code"]) == (2, "CLI.NOT_AN_ATTRIBUTE")
    assert (taken.returncode, json.loads(taken.stderr)["code"]) == (4, "API.GROUP_EXISTS")


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


ASK = script_of("cancel", "--batches", "@nightly")


def test_batches_of_a_query_are_changed_after_a_question(weft: Weft) -> None:
    with Client(home=weft.home) as client:
        batches = []
        for name in ("night", "night", "day"):
            builder = client.create_batch(name=name)
            builder.create_job(["sleep", "600"])
            batches.append(builder.submit())

        def are(word: str) -> list[bool]:
            return [bool(one.status()[word]) for one in batches]

        unasked = weft.run("hold", "--batches", "name = night", "--json")
        assert (unasked.returncode, json.loads(unasked.stderr)["code"]) == (
            2,
            "CLI.NOT_CONFIRMED",
        )
        done = weft.run("hold", "--batches", "name = night", "--yes")
        assert (done.returncode, done.stderr) == (0, b"weft: 2 batches held\n")
        assert are("held") == [True, True, False]
        again = as_json(weft, "hold", "--batches", "name = night or name = day", "--yes")
        assert (again["result"]["n_changed"], again["result"]["n_idle"]) == (1, 2)

        client.save_query("nightly", "name = night")
        with on_terminal(ASK, weft.environment()) as terminal:
            terminal.until("2 batches with 2 jobs")
            terminal.until("Cancel them? [y/N] ")
            terminal.type("n\n")
            terminal.until("nothing was changed")
            assert terminal.finish() == 4
        assert not any(are("cancelled"))
        with on_terminal(ASK, weft.environment()) as terminal:
            terminal.until("[y/N] ")
            terminal.type("y\n")
            terminal.until("2 batches cancelled")
            assert terminal.finish() == 0
        assert are("cancelled") == [True, True, False]
        (ended,) = as_json(weft, "operation", "ls", "-n", "1")
        told = weft.run("operation", "cancel", str(ended["id"])).stderr.decode()
        assert told == f"weft: operation {ended['id']} had ended (success): nothing to cancel\n"

        counted = client.count_batch_action("cancel", "name = day")
        assert (counted["n_batches"], counted["n_jobs"], counted["has_more"]) == (1, 1, False)
        found = client.act_on_batches("cancel", "name = day or name = night", shown=False)
        assert (found["n_changed"], found["n_idle"], found["skipped"]) == (1, 2, {})
        with pytest.raises(BadQuery):
            client.act_on_batches("cancel", "name =")
        assert all(are("cancelled"))


def claimed_at(client: Client, batch_id: int, job_id: int) -> Any:  # noqa: ANN401 (as text)
    return client.get_batch(batch_id).get_job(job_id).attempts()[0]["claimed_at"]


def held_batch(client: Client, n_jobs: int) -> int:
    """Submit jobs of the groups /low and /high in turn to a batch that is held."""
    b = client.create_batch().submit()
    b.hold()
    builder = client.update_batch(b.id)
    tree = builder.job_tree()
    groups = [tree.create_path(path) for path in ("/low", "/high")]
    for number in range(n_jobs):
        groups[number % 2].create_job(["true"])
    builder.submit()
    return b.id


def test_group_of_a_higher_priority_starts_first(weft: Weft) -> None:
    with Client(home=weft.home) as client:
        b = held_batch(client, 60)
        done = weft.run("set", f"b{b}/high", "--priority", "5")
        operation = as_json(weft, "set", f"b{b}/low", "--priority", "-5", "stage=late")
        last = as_json(weft, "set", f"b{b}.j1", "--priority", "-1000")
        late = as_json(weft, "status", f"b{b}/low")
        weft.run("release", f"b{b}")
        waited = weft.run("wait", f"b{b}")
        times = {job: claimed_at(client, b, job) for job in range(1, 61)}
        ended = weft.run("set", f"b{b}.j1", "--priority", "1", "--json")

    assert (done.returncode, done.stdout) == (0, b"")
    assert f"b{b}/high: priority set" in done.stderr.decode()
    assert (operation["kind"], operation["state"]) == ("set_priority", "success")
    assert operation["result"]["n_changed"] == 30
    assert (last["priority"], late["attributes"]) == (-1000, {"stage": "late"})
    assert waited.returncode == 0
    high, low = range(2, 61, 2), range(3, 61, 2)
    assert max(times[job] for job in high) < min(times[job] for job in low)
    assert max(times[job] for job in low) < times[1]
    assert (ended.returncode, json.loads(ended.stderr)["code"]) == (4, "API.JOB_ENDED")
    weft.told("audit")


def test_a_set_and_a_batch_from_python(weft: Weft) -> None:
    with Client(home=weft.home) as client:
        b = client.get_batch(held_batch(client, 6))
        picked = client.create_job_group(b.id, "picked")
        picked.add_job(2)
        picked.add_job(5)
        picked.update()
        whole = b.edit(priority=1, name="urgent")
        group = picked.edit(priority=7, name="chosen")
        found = [job["priority"] for job in b.list_jobs()]
        job = b.get_job(2).edit(priority=0)
        with pytest.raises(WrongType):
            b.edit(priority=1001)
        b.release()
        b.wait()
        with pytest.raises(JobEnded):
            b.get_job(2).edit(priority=1)

    assert (whole["name"], group["name"], picked.name) == ("urgent", "chosen", "chosen")
    assert found == [1, 7, 1, 1, 7, 1]
    assert job["priority"] == 0


def test_nothing_to_set(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path)
    wrong = weft.run("set", batch, "--json")

    assert (wrong.returncode, json.loads(wrong.stderr)["code"]) == (2, "CLI.NOTHING_TO_SET")
