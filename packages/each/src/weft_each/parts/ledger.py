"""The jobs of `weft each` whose results have not been printed yet; and slots of `{%}`: the
lowest numbers that no other running job has.
"""

import asyncio
import heapq
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weft.cli.terminal.exit_code import FAILED, NO_PROGRAM
from weft.core.ends.end_words import explain_end
from weft_each.parts.records import Submitted
from weft_each.rules.halt import Halt


class Slots:
    """Numbers from 1, each of one unfinished job at a time."""

    def __init__(self, count: int) -> None:
        self._free = list(range(1, count + 1))
        self._of_job: dict[int, int] = {}

    @property
    def n_free(self) -> int:
        """Return how many are free."""
        return len(self._free)

    def take(self) -> int:
        """Take the lowest free one."""
        return heapq.heappop(self._free)

    def give_back(self, slots: Iterable[int]) -> None:
        """Make these free again, whose jobs were never submitted."""
        for slot in slots:
            heapq.heappush(self._free, slot)

    def bind(self, first_job: int, slots: Sequence[int]) -> None:
        """Note to which jobs these belong: to this one and those after it."""
        self._of_job.update(enumerate(slots, first_job))

    def release(self, jobs: Iterable[int]) -> None:
        """Make the slots of ended jobs free."""
        self.give_back(self._of_job.pop(job) for job in jobs if job in self._of_job)


LAST_WORD = 255
"""A job that ends with it asks for no more jobs, as with xargs."""
SAID_LAST_WORD = 124
KILLED = 125
WINDOW_JOBS = 20_000
FAILURES_SHOWN = 20


@dataclass(frozen=True)
class Failure:
    """A line that failed, and why."""

    job_id: int | None
    """None if it was never submitted."""
    line: str
    why: str


class EarlierOutput(NamedTuple):
    """The output of an earlier run for a line that does not run again."""

    batch_id: int
    job_id: int
    line: str
    submitted: Submitted
    followed_by: int = 0
    """The job of this run before whose output it is printed."""


@dataclass
class Ledger:
    """Jobs submitted, ended, printed; at most `WINDOW_JOBS` between submission and printing."""

    n_submitted: int = 0
    n_printed: int = 0
    n_succeeded: int = 0
    n_failed: int = 0
    n_skipped: int = 0
    """Lines that succeeded in earlier runs."""
    n_reprinted: int = 0
    """Those of them whose output is printed again."""
    earlier: deque[EarlierOutput] = field(default_factory=deque)
    """What such lines have left, and is not printed."""
    n_missing: int = 0
    """Outputs that the server cannot read."""
    missing: Mapping[str, Any] | None = None
    """Why, as the problem document of the first one."""
    n_cut: int = 0
    """Outputs whose middle was not kept."""
    allows_cut: bool = False
    failures: list[Failure] = field(default_factory=list)
    """The first few failures."""
    n_ended: Counter[str] = field(default_factory=Counter)
    """Jobs that have ended, by state, printed or not."""
    n_cancelled: int = 0
    """Jobs that were cancelled because the run stopped early."""
    halted: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the run has to stop before the end of the input."""
    halts: str | None = None
    halted_by: str | None = None
    """Why, for people."""
    is_input_done: bool = False
    ended: set[int] = field(default_factory=set)
    """Jobs that have ended and are not printed."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set at each change for which the printer may wait."""
    room: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever something was printed."""
    details: dict[int, Submitted] = field(default_factory=dict)
    """What jobs were given, if files of results need it."""
    slots: Slots | None = None
    """Of unfinished jobs, if the command names them."""
    failed_code: int = FAILED
    """Exit code of a run in which a job failed."""
    exit_code: int = 0
    """Of the run, after what was printed so far."""
    _lines: dict[int, str] = field(default_factory=dict)

    @property
    def n_free(self) -> int:
        """Return how many more jobs may be submitted now."""
        n_free = WINDOW_JOBS - (self.n_submitted - self.n_printed)
        return n_free if self.slots is None else min(n_free, self.slots.n_free)

    @property
    def is_done(self) -> bool:
        """Say whether every line's result was printed."""
        return self.is_input_done and self.n_printed == self.n_submitted and not self.earlier

    def note_submitted(
        self, lines: list[str], details: Sequence[Submitted] = (), slots: Sequence[int] = ()
    ) -> None:
        """Record that the next jobs belong to these lines and have these slots."""
        self.details.update(enumerate(details, self.n_submitted + 1))
        for line in lines:
            self.n_submitted += 1
            self._lines[self.n_submitted] = line
        if self.slots is not None:
            self.slots.bind(self.n_submitted - len(lines) + 1, slots)
            self.slots.release(self.ended)
        self.changed.set()

    def note_unsubmitted(self, line: str, why: str) -> None:
        """Record a line that cannot become a job."""
        self._note_failure(Failure(None, line, why))

    def note_ended(self, job_ids: list[int], state: str = "success") -> None:
        """Record that jobs have ended; jobs that were already printed are ignored.

        The news may be faster than the answer to the request that submitted them.
        """
        new = {j for j in job_ids if j in self._lines or j > self.n_submitted} - self.ended
        self.ended |= new
        self.n_ended[state] += len(new)
        if self.slots is not None:
            self.slots.release(new)
            self.room.set()
        self.changed.set()

    def reaches(self, rule: Halt) -> bool:
        """Say whether the run has to stop by this rule."""
        ended = self.n_ended
        n_failed = ended["failed"] + ended["error"]
        return rule.is_reached(n_failed=n_failed, n_succeeded=ended["success"])

    def halt(self, when: str, why: str) -> None:
        """Submit nothing more. `when`: `now`, or `soon` when running jobs may end."""
        if not self.halted.is_set():
            self.halts, self.halted_by = when, why
            self.halted.set()
            self.room.set()

    def note_printed(self, job: Mapping[str, Any]) -> str | None:
        """Record that a job's result is printed; return its line, or `None` if it was before."""
        job_id = int(job["job_id"])
        line = self._lines.pop(job_id, None)
        if line is None:
            return None
        self.ended.discard(job_id)
        self.n_printed += 1
        self.room.set()
        self.note_output(job)
        if job["state"] == "success":
            self.n_succeeded += 1
        elif job["state"] == "cancelled" and self.halted.is_set():
            self.n_cancelled += 1
        else:
            failure = Failure(job_id, line, explain_end(job))
            self._note_failure(failure, _exit_code_after(job) or self.failed_code)
        return line

    def note_output(self, job: Mapping[str, Any]) -> None:
        """Count an output that is lost or was cut."""
        if "problem" in job:
            self.n_missing += 1
            self.exit_code = max(self.exit_code, FAILED)
            self.missing = self.missing or job["problem"]
        if job.get("truncated"):
            self.n_cut += 1
            self.exit_code = max(self.exit_code, 0 if self.allows_cut else FAILED)

    def next_earlier(self, *, ordered: bool, count_max: int) -> dict[int, EarlierOutput]:
        """Take neighbours of one batch that may be printed now, by their numbers."""
        taken: dict[int, EarlierOutput] = {}
        while self.earlier and len(taken) < count_max:
            one = self.earlier[0]
            if ordered and one.followed_by > self.n_printed + 1:
                break
            before = taken.get(one.job_id - 1)
            if taken and (before is None or before.batch_id != one.batch_id):
                break
            taken[one.job_id] = self.earlier.popleft()
        self.n_reprinted += len(taken)
        return taken

    def next_run(self, *, ordered: bool, count_max: int) -> tuple[int, int] | None:
        """Return the first and the last of a run of ended jobs that may be printed now."""
        first = self.n_printed + 1 if ordered else min(self.ended, default=0)
        if first not in self.ended or first > self.n_submitted:
            return None
        last = first
        until = min(first + count_max - 1, self.n_submitted)
        if ordered and self.earlier:
            until = min(until, self.earlier[0].followed_by - 1)
        while last < until and last + 1 in self.ended:
            last += 1
        return first, last

    def _note_failure(self, failure: Failure, exit_code: int = FAILED) -> None:
        self.n_failed += 1
        self.exit_code = max(self.exit_code, exit_code)
        if len(self.failures) < FAILURES_SHOWN:
            self.failures.append(failure)


def _exit_code_after(job: Mapping[str, Any]) -> int:
    """Return the exit code of a run with this failed job, 0 if it has none of its own; of several
    jobs the highest one counts.
    """
    if job.get("reason") == "no_program":
        return NO_PROGRAM
    if job.get("reason") == "signal":
        return KILLED
    return SAID_LAST_WORD if job.get("exit_code") == LAST_WORD else 0
