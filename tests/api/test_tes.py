"""The door for TES: what tasks are shown as. Its clients' own tests are in `integrations/tes`."""

from typing import Any

import httpx
import msgspec

from api.live import LiveWorker
from cases import cases
from weft.core.states import JobState, Reason
from weft.run.doors import api_doors
from weft_tes.jobs import output_logs, outputs_of
from weft_tes.shown import STATES, ends_of, state_of
from weft_tes.tasks import read_task

LIVE_DOORS = api_doors()
TASKS, OLD = "/ga4gh/tes/v1/tasks", "/ga4gh/tes/1.0/v1/tasks"
TASK = {"name": "one", "tags": {"a": "b"}, "executors": [{"image": "x", "command": ["true"]}]}


@cases("state", [state.word for state in JobState])
def test_each_state_is_found_among_those_that_are_searched_for_it(state: str) -> None:
    """`STATES` is the sieve of lists, `state_of` decides."""
    for reason in (None, *(one.word for one in Reason)):
        attempt = {"to": state, "reason": reason, "started_at": None if reason else "x"}
        for changes in ([], [{"kind": "held"}], [{"kind": "held"}, {"kind": "released"}]):
            for cancel in (None, {"at": "x"}):
                facts: dict[str, Any] = {"state": state, "cancel": cancel, "cancelled_at": None}
                shown = state_of(facts | {"changes": changes, "attempts": [attempt]})
                assert state in STATES[shown], (shown, facts)


async def test_task_is_shown_while_it_goes_on(http: httpx.AsyncClient, worker: LiveWorker) -> None:
    created = [(await http.post(TASKS, json=TASK)).json()["id"] for _ in range(3)]

    async def state(task_id: str, path: str = TASKS) -> str:
        document = (await http.get(f"{path}/{task_id}")).json()
        assert document.keys() == {"id", "state"}
        return str(document["state"])

    (claimed,) = await worker.claim(1)
    taken = [await state(one) for one in created]
    await worker.start([claimed])
    running = await state(created[0])
    cancelled = [(await http.post(f"{TASKS}/{one}:cancel")).json() for one in created[:2]]
    canceling = [await state(created[0], path) for path in (TASKS, OLD)]
    page = (await http.get(TASKS, params={"page_size": 2, "tag_key": "a"})).json()
    rest = (await http.get(TASKS, params={"page_token": page["next_page_token"]})).json()
    queued = (await http.get(TASKS, params={"state": "QUEUED", "view": "BASIC"})).json()

    assert taken == ["INITIALIZING", "QUEUED", "QUEUED"]
    assert (running, *canceling, *cancelled) == ("RUNNING", "CANCELING", "CANCELED", {}, {})
    assert [one["id"] for one in (*page["tasks"], *rest["tasks"])] == created[::-1]
    assert rest.keys() == {"tasks"}
    assert [one["id"] for one in queued["tasks"]] == created[2:]
    assert queued["tasks"][0]["executors"] == TASK["executors"]


def test_files_that_a_job_has_left_are_told_by_its_urls() -> None:
    stores = [
        {"name": "all", "url": "s3://lab", "access": "read"},
        {"name": "mine", "url": "s3://lab/mine/", "access": "write"},
    ]
    out = {"path": "/data/o/*.txt", "path_prefix": "/data", "url": "s3://lab/mine/out"}
    task = read_task(msgspec.json.encode({**TASK, "outputs": [out]}))
    (kept,) = outputs_of(task, stores)
    row = {"address": "store://mine/out/o/a.txt", "path": "x", "bytes": 3}
    targets = [(kept.output.to or "", kept.url, kept.path)]

    assert output_logs(targets, "b1.j1", [row]) == [
        {"url": "s3://lab/mine/out/o/a.txt", "path": "/data/o/a.txt", "size_bytes": "3"}
    ]


def test_what_a_task_writes_into_its_notes_is_read_once() -> None:
    """As many ends as there are executors, whatever their lines say."""
    line = b"0 a b 2 1\nxyz"
    ends = ends_of(line * 3, 3, is_full=True)
    assert [one["stdout"] + one["stderr"] for one in ends] == ["xyz"] * 3
    for noted in (
        b"0 a b 0 0\n" * 400_000,
        b"0" * (4 << 20),
        b"0 a b 0 -9\n" * 400_000,
        b"0 a b " + b"9" * 150 + b" 0\n" * 9,
        b"9" * 30 + b" a b 0 0\n",
        b"0 a b 0 0",
        b"\n" * (4 << 20),
    ):
        for n_max in (0, 1, 100):
            found = ends_of(noted, n_max, is_full=True)
            assert len(found) <= n_max
            assert all(0 <= one["exit_code"] <= 255 for one in found)
