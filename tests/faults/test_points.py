"""Processes die, fail or wait at each point of `weft.faults`: nothing is lost or done twice."""

import asyncio
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest
from obstore.store import LocalStore

from faults.books import query, read_books
from faults.conftest import Facts
from faults.siege import SEED, Batch, Siege, besieged
from faults.waiting import until
from migrations.next_release import NextRelease
from migrations.test_next_release import dump_of, later
from plugins.test_bucket_log_store import Site
from up.weft_up import run_weft, temporary_home
from web_server import Answer, Question, web_server
from weft.core.states import AttemptKey, Reason
from weft.faults import LATEST
from weft.plugins.log_stores.s3 import fetching
from weft_siege.load import after

__all__ = ["later"]
JOBS = 40
LONG_S = 7.0
"""Longer than the time between two heartbeats: a part of it is billed before it ends."""
CHAIN = 4 * LATEST
"""Jobs that are claimed and end one after the other: after a kill passes are counted anew."""
ROUNDS_MAX = 5
"""Batches until all points were passed: an agent may tell of ends in two ways."""
MODES = ("kill", "raise", "delay")
FIRED = {
    "all-roles": {
        "agent.after_claim",
        "agent.after_report",
        "agent.after_usage",
        "agent.before_report",
        "api.after_commit",
        "driver.after_callback",
        "driver.after_fold",
        "driver.after_message",
    },
    "spawner": {"spawner.after_start"},
    "shipping": {"agent.after_pack"},
    "migrations": {"migrate.after_step"},
    "restore": {"restore.after_step"},
}
"""What the tests below fire, each in all modes, by a word of their names: none cannot have one."""
ONCE = {"agent.after_usage", "api.after_commit", "driver.after_callback", "migrate.after_step"}
"""Passed once in a batch, or stepped through; at which pass others fire the seed says."""
ROLES = ("api", "driver", "worker")
SINK = '[sink.portal]\nkind = "http"\nurl = "URL/message"\nmessage = \'{"job": "{{ job.id }}"}\'\n'
in_each_mode = pytest.mark.parametrize("mode", MODES)


def armed(fired: Path, mode: str, *points: str) -> str:
    fired.mkdir()
    how = [f"{one}={mode}" + "@1" * (one in ONCE) for one in points]
    text = ",".join([f"fired:{fired},seed:{SEED}", *how])
    sys.stdout.write(f"FAULT_SEED={SEED}: {text}\n")  # pytest shows it with a failure
    return text


@contextmanager
def listening() -> Iterator[tuple[str, Counter[tuple[str, str]]]]:
    """Give the address of a receiver, and how often it got each delivery, by path."""
    got: Counter[tuple[str, str]] = Counter()

    def answer(asked: Question) -> Answer:
        got[asked.path, asked.headers["weft-delivery"]] += 1
        return Answer()

    with web_server(answer) as url:
        yield url, got


@in_each_mode
@pytest.mark.parametrize("where", ["all-roles", "spawner"])
def test_roles_at_their_points(where: str, mode: str, recorded: Facts, tmp_path: Path) -> None:
    fired = tmp_path / "fired"
    settings = {
        "WEFT_FAULTS": armed(fired, mode, *FIRED[where]),
        "WEFT_CALLBACK_RETRY_FIRST_S": "1",
        "WEFT_CALLBACK_PRIVATE_HOSTS": "127.0.0.1",
    }
    with (
        temporary_home() as home,
        besieged(home, recorded=recorded, **settings) as siege,
        listening() as (url, got),
    ):
        pids = {} if mode == "kill" else pids_of(siege)
        (tmp_path / "portal.toml").write_text(SINK.replace("URL", url))
        applied = run_weft("line", "apply", str(tmp_path / "portal.toml"), WEFT_HOME=str(home))
        assert applied.returncode == 0, applied.stderr
        n_settled = int((where, mode) == ("spawner", "raise"))
        for round_ in range(ROUNDS_MAX):
            batch = submitted(siege, f"{url}/callback", key=f"points-{round_}")
            siege.until_complete(batch)
            n_told = (round_ + 1) * (JOBS + 1) - n_settled
            until(lambda n=n_told: len(got) == n, "all is told", explain=siege.tail)  # type: ignore[misc]
            if n_settled and round_ == 0:
                prove_one_is_settled(siege, batch)
            else:
                siege.prove(batch, may_lose=where == "spawner")
            prove_bill(siege, batch)
            if not FIRED[where] - {one.name for one in fired.iterdir()}:
                break
        assert {one.name for one in fired.iterdir()} == FIRED[where]
        assert mode == "kill" or pids == pids_of(siege)
        # A mistake about one delivery ends the loop of none.
        assert '"loop":"callback"' not in (home / "log" / "driver.log").read_text()
    again = Counter(path for (path, _), count in got.items() for _ in range(count - 1))
    assert {path for path, _ in got} == {"/callback", "/message"}
    each = int(where == "all-roles" and mode != "delay")
    assert min(again["/callback"], again["/message"]) >= each
    if mode != "kill":  # no others were in hand and had to be sent again
        assert (again["/callback"], again["/message"]) == (each, each)


def pids_of(siege: Siege) -> Mapping[str, int]:
    return {"spawner": siege.spawner_pid(), **{role: siege.weft.pid(role) for role in ROLES}}


def prove_one_is_settled(siege: Siege, batch: Batch) -> None:
    """Prove that the job that a mistake is about has ended, saying so, and all others well."""
    books, evidence = read_books(siege.home, batch.batch_id), batch.evidence
    assert books.states == {"success": JOBS - 1, "error": 1}
    assert books.reasons[Reason.SYSTEM, "FaultError: spawner.after_start"] == 1
    assert (evidence.doubled(), evidence.out_of_order(), books.overlaps()) == (0, [], [])
    siege.prove_clean(batch)


def submitted(siege: Siege, callback: str, *, key: str) -> Batch:
    evidence = siege.evidence()
    jobs = [*evidence.mix(JOBS - 2, SEED), evidence.slow(LONG_S), evidence.slow(LONG_S)]
    for n in range(1, CHAIN):
        jobs[n] = after(jobs[n], {"of": n, "need": "end"})
    document = {
        "name": "points",
        "callback": callback,
        "sink": "portal",
        "jobs": [job.document for job in jobs],
    }
    ask = partial(siege.ask, "/v1/batches", document, key=key)
    return Batch(until(ask, "the batch is there", explain=siege.tail)["id"], jobs, evidence)


def prove_bill(siege: Siege, batch: Batch) -> None:
    """Prove that what is billed is the sum of all attempts."""
    used = sum(
        round((one.ended_at - one.started_at).total_seconds() * 1000)
        for one in read_books(siege.home, batch.batch_id).attempts
        if one.started_at is not None
    )
    text = "SELECT sum(usage_ms) FROM weft.batch_usage WHERE batch_id = $1"
    until(
        lambda: query(siege.home, text, batch.batch_id)[0][0] == used,
        "the bill is that of the attempts",
        explain=lambda: (used, query(siege.home, text, batch.batch_id)),
    )


SHIP = f"""
import asyncio, sys
from pathlib import Path
sys.path += {sys.path!r}
from faults.test_points import ship
asyncio.run(ship(Path(sys.argv[1])))
"""
"""The role of a worker that matters here, in a process of its own."""
TENANTS = range(1, LATEST + 1)


def site_at(root: Path) -> Site:
    """Give a worker whose bucket is a directory."""
    site = Site(root)
    site.store = LocalStore(root / "bucket", mkdir=True)
    site.tenants = {tenant: tenant for tenant in TENANTS}
    return site


async def ship(root: Path) -> None:
    """Ship as a worker does; the first of its processes writes."""
    site = site_at(root)
    shipping = asyncio.create_task(site.shipper.run())
    while not (site.root / "shipped").exists():
        await asyncio.wait([shipping], timeout=0.02)
    if not (site.root / "attempts").exists():
        for tenant in TENANTS:
            site.write(AttemptKey(tenant, 1, 1), b"of tenant %d\n" % tenant)
    await shipping


@in_each_mode
def test_shipping_at_its_point(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All output is read from the bucket, each byte once; a mistake does not end what ships it."""
    monkeypatch.setattr(fetching, "LATE_S", 0.0)
    environ = {**os.environ, "WEFT_FAULTS": armed(tmp_path / "fired", mode, *FIRED["shipping"])}
    site = site_at(tmp_path)

    def texts() -> list[bytes]:
        logs = [site.log(AttemptKey(tenant, 1, 1), 12) for tenant in TENANTS]
        return [asyncio.run(site.text(log)) for log in logs]

    with ExitStack() as processes:

        def start() -> subprocess.Popen[bytes]:
            words = [sys.executable, "-c", SHIP, str(tmp_path)]
            process = processes.enter_context(subprocess.Popen(words, env=environ))
            processes.callback(process.kill)
            return process

        running = start()
        if mode == "kill":
            assert running.wait(60) == -signal.SIGKILL
            running = start()
        whole = [b"of tenant %d\n" % tenant for tenant in TENANTS]
        until(lambda: texts() == whole, "all is in the bucket", within_s=60, explain=texts)
        assert running.poll() is None
    assert {one.name for one in (tmp_path / "fired").iterdir()} == FIRED["shipping"]


@in_each_mode
def test_migrations_at_their_point(
    mode: str,
    later: NextRelease,
    tmp_path: Path,
    database: dict[str, str],
    empty_database: dict[str, str],
) -> None:
    """Whatever happens after each of their steps, they are repeated and come to their end."""
    numbers, ended = itertools.count(), Counter[int]()

    def repeated(name: str, dsn: str) -> int:
        """Let each of the steps that are left be the last one of its run; return their number."""
        for n_fired in itertools.count():
            fired = tmp_path / str(next(numbers))
            try:
                later.call(name, dsn, WEFT_FAULTS=armed(fired, mode, *FIRED["migrations"]))
            except subprocess.CalledProcessError as error:
                ended[error.returncode] += 1
            if not any(fired.iterdir()):
                return n_fired
        raise AssertionError

    old, new = database["admin"], empty_database["admin"]
    steps = [repeated("migrate", old), repeated("contract", old), repeated("migrate", new)]
    after = [later.call("status", dsn) for dsn in (old, new)]

    assert set(ended) == {"kill": {-signal.SIGKILL}, "raise": {1}, "delay": set()}[mode]
    assert steps == [1, 1, 1 if mode == "delay" else 2]
    for status in after:
        assert (status["pending"], status["to_contract"], status["problem"]) == ([], [], None)
    assert dump_of(database) == dump_of(empty_database)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("where", ["used", "new"])
def test_restore_killed_at_its_points(where: str, tmp_path: Path) -> None:
    """After each step: `weft up` begins no empty database, the next restore is whole, and what was
    there before is there.
    """
    kept = tmp_path / "kept"
    with temporary_home() as used, temporary_home() as new:
        do(used, "up", "--port", "0", "--detach")
        do(used, "run", "--", "true")
        do(used, "backup", str(kept))
        do(used, "run", "--", "true")
        do(used, "down")
        home = {"used": used, "new": new}[where]
        step = 0
        while True:
            step += 1
            fired = tmp_path / str(step)
            fired.mkdir()
            armed_at = f"fired:{fired},restore.after_step=kill@{step}"
            done = run_weft("restore", str(kept), WEFT_HOME=str(home), WEFT_FAULTS=armed_at)
            if not any(fired.iterdir()):
                break
            assert done.returncode == -signal.SIGKILL, done.stderr

            refused = run_weft("up", "--port", "0", "--detach", WEFT_HOME=str(home))
            assert (refused.returncode, (home / "restore.json").exists()) == (4, True)
            assert f"weft restore {kept}" in refused.stderr
            before = before_of(home) if where == "used" else None
            assert str(before or "Nothing was there before") in refused.stderr

            facts = json.loads(do(home, "restore", str(kept), "--json"))
            if where == "used":
                assert facts["conflicts"]["missing"] == [{"first": "b2.j1", "n_jobs": 1}]
                shutil.rmtree(home / "pg")
                Path(facts["moved_to"]).rename(home / "pg")  # as the page says
            else:
                assert facts["moved_to"] is None
                shutil.rmtree(home / "pg")
        assert step == {"used": 6, "new": 4}[where], "a point stands after each step"
        assert done.returncode == 0, done.stderr
        assert not (home / "restore.json").exists()
        # The worker of the backup, which was made while it worked, is lost later.
        do(home, "up", "--port", "0", "--detach", "--worker-name", "restored")
        try:
            do(home, "status", "b1")
            assert "does not exist" in run_weft("status", "b2", WEFT_HOME=str(home)).stderr
        finally:
            do(home, "down")


def do(home: Path, *words: str) -> str:
    done = run_weft(*words, WEFT_HOME=str(home))
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def before_of(home: Path) -> Path:
    """Return where the former database of a home is: aside, or still in its place."""
    return next(home.glob("pg.before-*"), home / "pg")
