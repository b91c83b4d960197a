"""One weft under attack: submit, kill, wait for the end, and prove that nothing was lost."""

import base64
import http.client
import json
import os
import random
import signal
import sys
import time
import urllib.error
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.books import Books, read_books
from faults.waiting import until
from up.weft_up import Up, ask, kill, post, processes_of, prove_audit
from weft.store.embedded.leftovers import server_pids
from weft_siege.evidence import Evidence, Planned
from weft_siege.processes import spawner_pids

SEED = int(os.environ.get("FAULT_SEED") or random.SystemRandom().randrange(1_000_000))
os.environ["FAULT_SEED"] = str(SEED)
JOBS = int(os.environ.get("FAULT_JOBS") or 20_000)
"""Jobs during which one process is killed, over all moments together."""
REQUEST_JOBS = 10_000
OUTPUT_JOBS = 1000
STOP_S = 11.0
"""What is told to stop has ended by then: the grace of jobs and a second."""
ENVIRONMENT = {"WEFT_HEARTBEAT_S": "5"}
"""Of each `weft up`: what waits for a heartbeat shall not wait long."""
_AWAY = (urllib.error.URLError, http.client.HTTPException, OSError, ValueError)


@contextmanager
def besieged(
    home: Path, *options: str, recorded: dict[str, object] | None = None, **environ: str
) -> Iterator["Siege"]:
    """Start a weft to attack; leave nothing of it behind, however often it was started again."""
    environ = {**ENVIRONMENT, **environ}
    weft = Up(home, *options, environ=environ)
    siege = Siege(home, weft, environ, recorded if recorded is not None else {})
    try:
        siege.weft.until_ready()
        yield siege
    except BaseException:
        sys.stdout.write(siege.tail(lines=60))  # pytest shows it with the failure
        raise
    finally:
        siege.close()


@dataclass
class Batch:
    """A batch, what it was made of, and what its jobs wrote down."""

    batch_id: int
    jobs: Sequence[Planned]
    evidence: Evidence


@dataclass
class Siege:
    """A home with the supervisor that runs on it now."""

    home: Path
    weft: Up
    environ: Mapping[str, str] = field(default_factory=dict)
    recorded: dict[str, object] = field(default_factory=dict)
    """What the table at the end of the run shows of this test."""
    _files: int = 0

    def evidence(self) -> Evidence:
        """Return a fresh file for a batch."""
        self._files += 1
        return Evidence(self.home.parent / f"evidence-{self._files}")

    def submit(self, evidence: Evidence, jobs: Sequence[Planned]) -> Batch:
        """Submit one batch in one request or in several."""
        documents = [job.document for job in jobs]
        document = {"name": "siege", "jobs": documents[:REQUEST_JOBS]}
        batch_id: int = post(self.home, "/v1/batches", document)["id"]
        for first in range(REQUEST_JOBS, len(documents), REQUEST_JOBS):
            more = {"jobs": documents[first : first + REQUEST_JOBS]}
            post(self.home, f"/v1/batches/{batch_id}/updates", more)
        return Batch(batch_id, jobs, evidence)

    def ask(self, path: str, document: object = None, *, key: str = "") -> Any:  # noqa: ANN401
        """Ask the api; None if it is away or cannot answer now."""
        try:
            return json.loads(ask(self.home, path, document, key=key))
        except _AWAY:
            return None

    def document(self, batch: Batch) -> Mapping[str, Any]:
        """Return the batch's document as soon as the api can tell it."""
        document: Mapping[str, Any] = until(
            lambda: self.ask(f"/v1/batches/{batch.batch_id}"), "the api answers"
        )
        return document

    def until_ran(self, batch: Batch, share: float) -> None:
        """Wait until this share of the batch has run, by the jobs' own notes."""
        wanted = sum(len(job.words) for job in batch.jobs) * share
        until(
            lambda: batch.evidence.count >= wanted,
            f"{share:.0%} of batch {batch.batch_id} has run",
            explain=lambda: (batch.evidence.count, self.tail()),
        )

    def until_work_goes_on(self, batch: Batch, since: float) -> None:
        """Wait until the api shows progress; note how long that took since the fault."""
        n_completed = self.document(batch)["n_completed"]

        def goes_on() -> bool:
            now = self.ask(f"/v1/batches/{batch.batch_id}")
            return now is not None and (now["complete"] or now["n_completed"] > n_completed)

        until(goes_on, "work goes on", explain=self.tail)
        self.note_recovery(since)

    def note_recovery(self, since: float) -> float:
        """Record the longest time for which a fault of this test was felt; return that."""
        seconds = time.monotonic() - since
        before = self.recorded.get("recovery_s", 0.0)
        assert isinstance(before, float)
        self.recorded["recovery_s"] = max(before, seconds)
        return max(before, seconds)

    def until_complete(self, batch: Batch) -> Mapping[str, Any]:
        """Wait until all jobs of the batch have ended; return its document."""

        def complete() -> Any:  # noqa: ANN401 (a document)
            document = self.ask(f"/v1/batches/{batch.batch_id}")
            return document if document and document["complete"] else None

        document: Mapping[str, Any] = until(
            complete,
            f"batch {batch.batch_id} is complete",
            explain=lambda: (self.ask(f"/v1/batches/{batch.batch_id}"), self.tail()),
        )
        return document

    def note_stop(self, seconds: float) -> None:
        """Record how long what was told to stop took."""
        self.recorded["stopped_s"] = seconds
        assert seconds <= STOP_S

    def tail(self, lines: int = 8) -> str:
        """Return the end of what the roles said, for a failure's report."""
        parts = []
        for path in sorted((self.home / "log").glob("*.log")):
            last = path.read_text(errors="replace").splitlines()[-lines:]
            parts += [f"--- {path.name}", *last]
        return "\n".join(["", *parts])

    def spawner_pid(self) -> int:
        """Return the spawner, not the program that gave it its namespace."""
        return until(lambda: spawner_pids(self.home), "the spawner lives")[0]

    def kill(self, what: str) -> float:
        """Send SIGKILL to one part of this weft, whatever it is doing; return when."""
        killed_at = time.monotonic()
        if what == "spawner":
            kill([self.spawner_pid()])
        elif what == "postgres":
            kill(server_pids(self.home / "pg"))
        else:
            kill([self.weft.pid(_READY_FILES.get(what, what))])
        return killed_at

    def until_back(self, what: str) -> None:
        """Wait until the supervisor or the agent has replaced what was killed."""
        if what == "spawner":
            self.weft.until("worker.registered")
        elif what == "postgres":
            self.weft.until("up.database_ready")
        else:
            self.weft.until_ready_again(_READY_FILES.get(what, what))

    def strike(self, what: str) -> float:
        """Kill one part or everything, and wait until it is back; return when it was killed."""
        killed_at = time.monotonic()
        if what == "everything":
            self.kill_everything()
            self.start_again()
        else:
            self.kill(what)
            self.until_back(what)
        self.note_recovery(killed_at)
        return killed_at

    def kill_everything(self) -> None:
        """Kill every process of this weft, the supervisor among them."""
        kill([self.weft.process.pid, *processes_of(self.home)])
        self.weft.process.wait()

    def start_again(self, *options: str) -> None:
        """Start another `weft up` on the home of one that has ended; wait until it is ready."""
        for stream in (self.weft.process.stdout, self.weft.process.stderr):
            assert stream is not None
            stream.close()
        self.weft = Up(self.home, *options, environ=self.environ)
        self.weft.until_ready()

    def close(self) -> None:
        """Stop what runs now."""
        self.weft.close()

    def put_to_sleep(self, pids: Sequence[int]) -> None:
        """Stop processes where they are."""
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)

    def wake(self, pids: Sequence[int]) -> None:
        """Let stopped processes go on."""
        for pid in pids:
            os.kill(pid, signal.SIGCONT)

    def outputs(self, batch: Batch) -> dict[int, tuple[bytes, bytes]]:
        """Return what the log store has of every job."""
        found = {}
        for first in range(1, len(batch.jobs) + 1, OUTPUT_JOBS):
            span = f"first={first}&last={first + OUTPUT_JOBS - 1}"
            lines = ask(self.home, f"/v1/batches/{batch.batch_id}/outputs?{span}").splitlines()
            for row in map(json.loads, lines):
                stdout, stderr = base64.b64decode(row["stdout"]), base64.b64decode(row["stderr"])
                found[int(row["job_id"])] = stdout, stderr
        return found

    def prove(self, batch: Batch, *, may_lose: bool = False) -> Books:
        """Prove that each job succeeded exactly once, with its output, and that nothing is left.

        `may_lose`: the fault ended attempts, whose jobs ran again. Without it each job ran once.
        """
        books = read_books(self.home, batch.batch_id)
        doubled = batch.evidence.doubled()
        lost = len(batch.jobs) - books.states["success"]
        self.recorded.update(jobs=len(batch.jobs), lost=lost, doubled=doubled)
        assert books.states == {"success": len(batch.jobs)}
        assert books.succeeded_twice() == []
        assert len(books.successes) == len(batch.jobs)
        assert books.overlaps() == []
        assert batch.evidence.missing(batch.jobs, books.successes) == []
        assert batch.evidence.out_of_order() == []
        assert doubled <= (books.n_lost if may_lose else 0), books.reasons
        self.prove_outputs(batch)
        self.prove_clean(batch)
        return books

    def prove_outputs(self, batch: Batch, *, job_ids: Iterable[int] | None = None) -> None:
        """Prove that the logs of these jobs, or of all, are complete."""
        expected = {
            job_id: batch.jobs[job_id - 1].streams(batch.batch_id, job_id)
            for job_id in job_ids or range(1, len(batch.jobs) + 1)
        }
        found = self.outputs(batch)
        wrong = {
            job_id: found.get(job_id)
            for job_id, streams in expected.items()
            if found.get(job_id) != streams
        }
        assert wrong == {}

    def prove_clean(self, batch: Batch) -> None:
        """Prove that no process of a job lives, and that the books are right."""
        until(
            lambda: not batch.evidence.processes(),
            "no orphan lives",
            within_s=15,
            explain=batch.evidence.processes,
        )
        prove_audit(self.home)


_READY_FILES = {"agent": "worker"}
