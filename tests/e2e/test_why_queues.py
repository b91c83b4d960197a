"""`weft why` of queues, limits, shares and pools: the same on the command line, over HTTP and from
Python, and commands that change it. What `run`, `wait`, `each`, `status` and `jobs` say.
"""

import asyncio
import json
import re
import secrets
import shlex
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from contexts import fixture_of
from e2e.conftest import Weft, until, weft_up
from e2e.pool_site import process_pool
from e2e.test_batches import submit
from e2e.test_growing_pools import break_workers
from e2e.test_holds import first_line
from faults.books import query
from up.weft_up import get, post
from weft import Client
from weft.store import open_admin

pytestmark = pytest.mark.heavy
CORES = 4
SLEEP = {"command": ["sleep", "4321"], "resources": {"cpu": 1, "memory": "1Mi"}}
Causes = list[dict[str, Any]]
own = fixture_of(
    lambda tmp_path_factory: weft_up(tmp_path_factory.mktemp("home"), "--worker-cpu", str(CORES)),
    "module",
)
"""A server whose worker has four cores."""


@contextmanager
def submitted(own: Weft, *jobs: dict[str, Any]) -> Iterator[str]:
    """Submit jobs; cancel them at the end."""
    number = post(own.home, "/v1/batches", {"jobs": [{**SLEEP, **job} for job in jobs]})["id"]
    try:
        yield f"b{number}"
    finally:
        post(own.home, f"/v1/batches/{number}/cancel", {})


def heard(own: Weft, target: str) -> Causes:
    """Return what is said of a job or a batch over HTTP."""
    batch, _, job = target.removeprefix("b").partition(".j")
    causes: Causes = get(
        own.home, f"/v1/batches/{batch}/" + (f"jobs/{job}/why" if job else "why")
    )["causes"]
    return causes


def told(own: Weft, target: str) -> Causes:
    """Return what is said of a job or a batch, on all ways."""
    on_line: Causes = json.loads(own.told("why", target, "--json"))["causes"]
    over_http = heard(own, target)
    batch, _, job = target.removeprefix("b").partition(".j")
    with Client(home=own.home) as client:
        found = client.get_batch(int(batch))
        in_python = (found.get_job(int(job)) if job else found).why()["causes"]
    for other in (over_http, in_python):
        assert [(one["kind"], one["command"]) for one in other] == [
            (one["kind"], one["command"]) for one in on_line
        ]
    return on_line


def do(own: Weft, command: str | None) -> None:
    """Run a command as it was printed."""
    assert command is not None
    own.told(*shlex.split(command)[1:])


def is_said(own: Weft, target: str, kind: str) -> Callable[[], bool]:
    return lambda: kind in [one["kind"] for one in heard(own, target)]


def apply(own: Weft, kind: str, file: Path, text: str) -> None:
    file.write_text(text)
    own.told(kind, "apply", str(file), "--yes")


def runs(own: Weft, batch: str, n: int) -> Callable[[], bool]:
    return lambda: get(own.home, f"/v1/batches/{batch[1:]}")["n_running"] == n


def test_no_worker_is_large_enough(own: Weft) -> None:
    with own.started("worker", "--worker-name", "large", "--worker-cpu", "8"):
        until(lambda: "large" in {one["worker"] for one in get(own.home, "/v1/workers")["items"]})
        assert own.run("worker", "cordon", "large").returncode == 0
        with submitted(own, {"command": ["true"], "resources": {"cpu": 8}}) as batch:
            assert own.run("worker", "drain", "large").returncode == 0
            until(is_said(own, f"{batch}.j1", "too_large"))
            (cause,) = told(own, f"{batch}.j1")
            (of_batch,) = told(own, batch)
            words = shlex.split(cause["command"])[1:]
            with own.started(*words):
                ended = own.run("wait", batch)
                own.run("worker", "drain", words[words.index("--worker-name") + 1])

    assert cause["text"] == (
        "waits for a worker with 8 cores: the largest has 4"
        "; on a host with less, jobs would share it"
    )
    assert cause["command"] == "weft worker --pool default --worker-name default-3 --worker-cpu 8"
    assert of_batch["text"] == cause["text"]
    assert of_batch["job_id"] == 1
    assert ended.returncode == 0


def test_a_queue_and_a_user_are_at_their_limits(own: Weft, tmp_path: Path) -> None:
    queues = """
[[queue]]
name = "two"
priority = 1
max_running = 2

[[queue]]
name = "mine"
priority = 2
max_running_per_user = 1
"""
    apply(own, "queue", tmp_path / "q.toml", queues)
    with (
        submitted(own, *[{"queue": "two"}] * 3) as two,
        submitted(own, *[{"queue": "mine"}] * 2) as mine,
    ):
        until(runs(own, two, 2))
        until(runs(own, mine, 1))
        (of_queue,) = told(own, f"{two}.j3")
        of_batch, running = told(own, two)
        (of_user,) = told(own, f"{mine}.j2")
        printed = own.run("why", f"{two}.j3").stdout.decode().splitlines()
        do(own, of_queue["command"])
        assert own.run("cancel", of_queue["command"].split()[-1]).returncode == 0
        until(is_said(own, f"{two}.j3", "running"))

    assert of_queue["text"] == "waits: queue two runs 2 of 2 jobs"
    assert of_queue["command"] in {f"weft why {two}.j{number}" for number in (1, 2)}
    assert printed == [f"{two}.j3 {of_queue['text']}", f"  {of_queue['command']}"]
    assert (of_batch["text"], of_batch["job_id"]) == (of_queue["text"], 3)
    assert running["text"] == "runs 2 of 3 jobs"
    assert of_user["text"] == "waits: you run 1 of 1 jobs in queue mine"


def test_guards_choose_another_queue_by_now(own: Weft, tmp_path: Path) -> None:
    slow = '[[queue]]\nname = "slow"\npriority = 3\nguard = \'job.name == "x"\'\n'
    apply(own, "queue", tmp_path / "q.toml", slow)
    later = {"not_before": "2099-01-01T00:00:00Z"}
    with submitted(own, {"name": "x", **later}, later) as batch:
        before = heard(own, f"{batch}.j1")
        fast = slow.replace("slow", "fast").replace("3", "4")
        apply(own, "queue", tmp_path / "q.toml", slow + fast)
        until(is_said(own, f"{batch}.j1", "guard"))
        date, guard = told(own, f"{batch}.j1")
        (other,) = heard(own, f"{batch}.j2")
        of_batch = told(own, batch)
        do(own, guard["command"])
        after = heard(own, f"{batch}.j1")
        queue = get(own.home, f"/v1/batches/{batch[1:]}/jobs/1")["queue"]

    assert [one["kind"] for one in before] == ["not_before"]
    assert date["text"].startswith("starts at 2099-01-01 00:00 UTC (in ")
    assert guard["text"] == "waits in queue slow, but guards choose queue fast for it now"
    assert guard["command"] == "weft queue reroute --queue slow"
    assert other["kind"] == "not_before"
    assert [one["kind"] for one in of_batch] == ["not_before", "guard"]
    assert ([one["kind"] for one in after], queue) == (["not_before"], "fast")


def test_the_share_of_a_user_is_used(own: Weft) -> None:
    """The user with less comes first, and waits for room too."""
    token = secrets.token_urlsafe(32)
    secret = json.loads((own.home / "secrets.json").read_bytes())["admin"]

    async def add_user() -> None:
        async with open_admin(secret) as admin:
            await admin.ensure_local_user(user="bob", token=token)

    asyncio.run(add_user())
    url = json.loads((own.home / "client.json").read_text())["url"]
    with submitted(own, *[{}] * (CORES + 1)) as mine, Client(url=url, token=token) as bob:
        until(runs(own, mine, CORES))
        batch = bob.create_batch()
        job = batch.create_job(["true"])
        theirs = batch.submit()
        last = f"{mine}.j{CORES + 1}"
        until(is_said(own, last, "share"))
        (share,) = told(own, last)
        (busy,) = job.why()["causes"]
        words = shlex.split(share["command"])[1:]
        with own.started(*words, "--worker-cpu", "2"):
            until(is_said(own, last, "running"))
            ended = theirs.wait()
            own.run("cancel", mine)
            own.run("worker", "drain", words[words.index("--worker-name") + 1])

    assert share["text"] == (
        "waits: your share is used: you run 4 of 4 cores, and others with less to run come first"
        "; another one on the same host would share its cores"
    )
    assert busy["text"] == (
        "waits for a worker with room: it needs 1 of 4 cores, and others use them"
        "; another one on the same host would share its cores"
    )
    assert ended["state"] == "success"


GROWS = '[[queue]]\nname = "g"\npriority = 5\npools = ["grow"]\n'
HISTORY = """
    INSERT INTO weft.machine (pool_id, name, provider, flavour, region, cpu_m, price_per_hour,
        pool_max, state, reason, created_at, changed_at, came_at)
    SELECT pool_id, 'grow-0', 'process', 'small', '', 1000, 0, 3, 'deleted', '',
        now() - interval '1 h', now() - interval '55 min', now() - interval '58 min'
    FROM weft.pool WHERE name = 'grow'
"""
"""One that came after two minutes."""


def test_a_pool_grows_and_when_its_machine_comes(own: Weft, tmp_path: Path) -> None:
    apply(own, "pool", tmp_path / "pools.toml", process_pool("grow", max_workers=3))
    apply(own, "queue", tmp_path / "q.toml", GROWS)

    break_workers(own, "grow")
    with submitted(own, {"queue": "g"}) as batch:
        until(lambda: "is being made" in heard(own, f"{batch}.j1")[0]["text"])
        (made,) = heard(own, f"{batch}.j1")
        query(own.home, HISTORY)
        (comes,) = told(own, f"{batch}.j1")
        (of_batch,) = told(own, batch)
        do(own, comes["command"])
        with own.started("each", "--queue", "g", "--", "true", stdin=subprocess.PIPE) as each:
            each.stdin.write(b"1\n")
            each.stdin.close()
            said = each.stderr.readline().decode()
        own.run("cancel", re.findall(r"b\d+", said)[0])

    grows = "waits for a worker of pool grow: the pool grows, machine grow-"
    assert (made["kind"], made["command"]) == ("grows", "weft pool show grow")
    assert re.fullmatch(
        grows + r"\d+ is being made, asked for at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", made["text"]
    )
    assert re.fullmatch(grows + r"\d+ comes in about (\d\d|1[012]\d) s", comes["text"])
    assert of_batch["text"].startswith(grows)
    assert "the pool grows, machine" in said


DATE = "jobs: [{command: ['true'], not_before: 2100-01-02T03:04:00Z}]"


def first_said(weft: Weft, *arguments: str) -> str:
    """Return the first line that a command says while it waits."""
    with weft.started(*arguments) as process:
        line = first_line(process)
        process.send_signal(signal.SIGINT)
        process.wait(60)
    return line


def row(text: str, start: str) -> str:
    (found,) = (line for line in text.splitlines() if line.startswith(start))
    return found


def shown(weft: Weft, batch: str, job: str) -> tuple[str, str, str]:
    """Return what `status` of the job and of its batch, and `jobs` say."""
    of_job, of_batch = (weft.run("status", name).stdout.decode() for name in (job, batch))
    jobs = weft.run("jobs", batch).stdout.decode()
    waits = [line for line in of_batch.splitlines() if line.startswith("Waits\t")]
    return row(of_job, "Why\t"), waits[0] if waits else "", row(jobs, f"{job}\t")


def test_a_date_is_told_wherever_the_job_waits(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path, DATE)
    job = f"{batch}.j1"
    why, waits, listed = shown(weft, batch, job)
    waiting = first_said(weft, "wait", batch)
    running = first_said(weft, "run", "--not-before", "2100-01-02T03:04:00Z", "--", "true")
    each = first_said(
        weft, "each", "--not-before", "2100-01-02T03:04:00Z", "--", "echo", ":::", "a"
    )
    weft.run("cancel", batch)

    assert re.search(r"\tstarts at 2100-01-0\d \d\d:\d\d UTC \(in \d+ d\)$", why)
    assert waits.startswith(f"Waits\twaits: {job} starts at 2100-01-0")
    assert "starts at 2100-01-0" in listed
    assert waiting.startswith(f"weft: {batch} waits: {job} starts at 2100-01-0")
    assert "j1 starts at 2100-01-0" in running
    assert "j1 starts at 2100-01-0" in each


@contextmanager
def cordoned(weft: Weft) -> Iterator[str]:
    name = socket.gethostname()
    assert weft.run("worker", "cordon", name).returncode == 0
    try:
        yield name
    finally:
        weft.run("worker", "uncordon", name)


def test_a_cordoned_worker_is_told_with_the_command_that_ends_it(
    weft: Weft, tmp_path: Path
) -> None:
    with cordoned(weft) as name:
        batch = submit(weft, tmp_path, "jobs: [{command: ['true']}]")
        why, waits, listed = shown(weft, batch, f"{batch}.j1")
        waiting = first_said(weft, "wait", batch)
    ended = weft.run("wait", batch)

    says = f"waits for a worker: {name} is cordoned; `weft worker uncordon {name}`"
    assert why == f"Why\t{says}"
    assert waits == f"Waits\t{says}"
    assert says in listed
    assert waiting == f"weft: {batch} {says}\n"
    assert ended.returncode == 0
