"""set --priority, with a real driver and a real worker."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Weft, as_json
from e2e.test_batches import submit
from weft import Client
from weft.core.errors import JobEnded, WrongType

pytestmark = pytest.mark.heavy


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
