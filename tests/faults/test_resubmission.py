"""kill -9 while a batch is made from another one, within a page of jobs and between two."""

import signal
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from faults.books import in_the_way, query
from faults.commands import started
from faults.siege import Siege
from faults.waiting import until
from up.weft_up import get, post, prove_audit
from weft.cli.terminal.interrupts import INTERRUPTED

ARRAY = 2_000
ARRAYS = 6
SINGLES = 30
"""Between two arrays."""
SECOND_PAGE = 3_000
"""A page has 5,000 jobs: no span of the first begins after this one."""
PAGE = 1000
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"
NEWEST = "SELECT max(batch_id) FROM weft.batch"
STAGED = "SELECT count(*) FROM weft.job WHERE batch_id = $1"
EDGES = "SELECT parent_id, child_id FROM weft.edge WHERE batch_id = $1"
SPANS = (
    "INSERT INTO weft.resubmitted_span (batch_id, from_job, n_jobs, first_job, tenant_id)"
    " SELECT $1, n, 1, n, 1 FROM generate_series($2::int, 20000) n"
)
"""They stop the second page when its jobs are there, before their numbers are noted."""


def document(gate: Path) -> Mapping[str, Any]:
    """Return a batch of which all but two jobs are cancelled unless the gate is there."""
    jobs: list[Mapping[str, Any]] = [
        {"name": "source", "command": ["/usr/bin/test", "-e", str(gate)]},
        {"name": "fine"},
        {"name": "of fine", "parents": ["fine"]},
    ]
    for n in range(ARRAYS):
        parents = ["source"] if n % 2 else ["source", "fine"]
        jobs += [
            {
                "name": f"s{n}-{k}",
                "command": ["/bin/echo", f"{n}", f"{k}"],
                "group": f"/odd{k % 2}",
                "parents": [f"s{n}-{k - 1}", *parents] if k else parents,
            }
            for k in range(SINGLES)
        ]
        jobs.append(
            {"name": f"a{n}", "count": ARRAY, "parents": parents, "attributes": {"part": f"{n}"}}
        )
    groups = [{"path": "/odd0"}, {"path": "/odd1"}]
    return {"name": "old", "groups": groups, "jobs": jobs}


@pytest.mark.parametrize(
    ("part", "options"), [("driver", []), ("driver", ["--failed"]), ("postgres", [])]
)
def test_killed_while_jobs_are_copied(siege: Siege, part: str, options: Sequence[str]) -> None:
    gate = siege.home.parent / "gate"
    if not options:
        gate.touch()
    old: int = post(siege.home, "/v1/batches", document(gate))["id"]
    until(
        lambda: (siege.ask(f"/v1/batches/{old}") or {}).get("complete"),
        "it has ended",
        explain=siege.tail,
    )
    gate.touch()
    new: int = query(siege.home, NEWEST)[0][0] + 1
    words = ["resubmit", f"b{old}", "--key", "once", *options]
    with ExitStack() as stack:
        with in_the_way(siege.home, SPANS, new, SECOND_PAGE):
            with started(siege.home, *words) as interrupted:
                until(lambda: query(siege.home, WAITING)[0][0], "a page waits", explain=siege.tail)
                interrupted.process.send_signal(signal.SIGINT)
                assert interrupted.finish() == INTERRUPTED
            command = stack.enter_context(started(siege.home, *words))
            n_staged = query(siege.home, STAGED, new)[0][0]
            killed_at = siege.kill(part)
            seen = [] if part == "postgres" else batches(siege)
        siege.until_back(part)
        until(lambda: query(siege.home, STAGED, new)[0][0] > n_staged, "it goes on")
        siege.note_recovery(killed_at)
        siege.strike(part)
        code = command.finish()
    until(
        lambda: (siege.ask(f"/v1/batches/{new}") or {}).get("complete"),
        "its jobs have run",
        explain=siege.tail,
    )
    prove_audit(siege.home)
    expected, found = jobs_of(siege, old), jobs_of(siege, new)
    if options:
        expected = resubmitted(expected)
    commands = {name: spec_of(siege, new, job) for job, (name, *_) in found.items() if "-" in name}

    assert code == 0, b"".join(command.said)
    assert command.lines == [f"b{new}\n".encode()]
    assert b"the server goes on" in b"".join(interrupted.said)
    assert n_staged == 5_000
    assert seen in ([], [old])
    assert batches(siege) == [old, new]
    assert found == expected
    assert len(found) == ARRAYS * (ARRAY + SINGLES) + (1 if options else 3)
    assert commands == {
        f"s{n}-{k}": ["/bin/echo", f"{n}", f"{k}"] for n in range(ARRAYS) for k in range(SINGLES)
    }
    assert get(siege.home, f"/v1/batches/{new}")["n_succeeded"] == len(found)


def batches(siege: Siege) -> list[int]:
    """Return what is seen of batches."""
    return sorted(one["id"] for one in get(siege.home, "/v1/batches")["items"])


def jobs_of(siege: Siege, batch_id: int) -> dict[int, tuple[Any, ...]]:
    """Return name, group, attributes and parents of each job, by its number."""
    groups = {
        one["group_id"]: one["path"]
        for one in get(siege.home, f"/v1/batches/{batch_id}/groups")["items"]
    }
    parents: dict[int, set[int]] = {}
    for parent, child in query(siege.home, EDGES, batch_id):
        parents.setdefault(child, set()).add(parent)
    found, cursor = {}, ""
    while True:
        page = get(siege.home, f"/v1/batches/{batch_id}/jobs?limit={PAGE}{cursor}")
        for one in page["items"]:
            found[one["job_id"]] = (
                one["name"],
                groups[one["group_id"]],
                one["attributes"],
                parents.get(one["job_id"], set()),
            )
        if page["cursor"] is None:
            return found
        cursor = f"&cursor={page['cursor']}"


def resubmitted(jobs: Mapping[int, tuple[Any, ...]]) -> dict[int, tuple[Any, ...]]:
    """Return jobs as they are numbered without the two that succeeded, which count as done."""
    left = [job for job in jobs if job not in {2, 3}]
    number = {job: n for n, job in enumerate(left, 1)}
    return {
        number[job]: (*rest, {number[one] for one in parents - {2}})
        for job, (*rest, parents) in jobs.items()
        if job in number
    }


def spec_of(siege: Siege, batch_id: int, job: int) -> Any:  # noqa: ANN401 (a document)
    """Return the command of a job."""
    return get(siege.home, f"/v1/batches/{batch_id}/jobs/{job}")["spec"]["command"]
