"""The monitor, as rules of the machine that calls the core and its model."""

from typing import Any, NamedTuple

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from properties.gate_rules import WORKERS
from properties.hold_rules import BATCHES
from properties.jobs_model import ROUNDS, RUN, STOPPED, B, Job
from properties.rules import Rules
from properties.said_ends import FAILS, TOO_LONG, WAITS, End
from weft.core.queues import Queue
from weft.core.states import Reason
from weft.ports.store import Claimed
from weft.wire.documents.queues import YEAR_S, MonitorDocument

LIMITS = MonitorDocument(rounds=ROUNDS, executing_s=60, silent_s=60, assigned_s=YEAR_S)
AN_HOUR_PASSES = """
    UPDATE weft.attempt_watch SET since = since - interval '1 hour',
        silent_since = silent_since - interval '1 hour', due_at = due_at - interval '1 hour'
    WHERE batch_id = ANY ($1)
"""
STOPS_ARE_DUE = """
    UPDATE weft.attempt_stop SET due_at = due_at - interval '1 hour' WHERE batch_id = ANY ($1)
"""
Key = tuple[int, int, int]
"""Batch, job and attempt."""


class Stop(NamedTuple):
    """An attempt that was stopped, and whose job has not gone on since."""

    owner: int
    claimed: Claimed


class MonitorRules(Rules):
    """Let workers name what they have or not, and stop what takes too long."""

    ended: list[tuple[int, Claimed, Reason | None]]

    def __init__(self) -> None:
        super().__init__()
        self.is_monitored = False
        self.stops: dict[Key, Stop] = {}
        self.gone: set[Key] = set()
        """Those of the stops that their workers have confirmed."""

    def begin_again(self, owner: int) -> None:
        raise NotImplementedError

    def claim(self, owner: int, limit: int) -> None:
        raise NotImplementedError

    def start(self, owner: int, choices: list[int]) -> None:
        raise NotImplementedError

    def complete(
        self, owner: int, choices: list[int], ends: list[End], *, ran: bool, limit: int
    ) -> None:
        raise NotImplementedError

    def beat(self, owner: int) -> None:
        raise NotImplementedError

    def beat_without(self, owner: int, silent: set[tuple[int, int]]) -> None:
        raise NotImplementedError

    def save_limits(self) -> None:
        """Give the default queue limits."""
        limits = msgspec.to_builtins(LIMITS)
        queue = Queue(name="default", monitor=limits)
        self.run(self.world.api.save_queues(self.world.caller, [queue]))
        self.is_monitored = True

    # ------------------------------------------------------------------ workers

    def stopped_on(self, owner: int) -> list[Claimed]:
        """Return the stopped attempts that a worker still has."""
        return [
            stop.claimed
            for key, stop in self.stops.items()
            if stop.owner == owner and key not in self.gone
        ]

    def note_gone(self, keys: set[Key]) -> None:
        """Note what workers have ended of what was stopped."""
        self.gone |= keys & self.stops.keys()

    def note_beat(self, owner: int, named: set[tuple[int, int]]) -> None:
        """Note what a worker has named."""
        if not self.is_monitored:
            return
        for (which, number), (who, _one) in self.held.items():
            job = self.models[which].jobs[number]
            if who == owner and (job.watched is not None or (which, number) in named):
                job.watched, job.is_silent = job.started, (which, number) not in named

    @precondition(lambda self: self.held)
    @rule(owner=st.sampled_from(WORKERS), choices=st.sets(st.integers(0, 9), min_size=1))
    def beat_in_part(self, owner: int, choices: set[int]) -> None:
        """Let a worker not name some of what it has named before."""
        mine = [
            (which, number)
            for (which, number), (who, _one) in self.held.items()
            if who == owner and self.models[which].jobs[number].watched is not None
        ]
        self.beat_without(owner, {mine[choice % len(mine)] for choice in choices if mine})

    @precondition(lambda self: self.stops)
    @rule(choice=st.integers(0, 9), names=st.booleans(), end=st.sampled_from([None, Reason.EXIT]))
    def confirm(self, choice: int, end: Reason | None, *, names: bool) -> None:
        """Let a worker end what was stopped, whatever it says of that; or not name it any more."""
        key = [*self.stops][choice % len(self.stops)]
        owner, one = self.stops[key]
        if key in self.gone:
            return
        if names:
            worker = self.workers[owner]
            assert self.run(worker.start(one)) == ["stale"]
            assert self.run(worker.end(one, reason=end)) == ["stale"]
            self.note_gone({key})
        else:
            self.note_gone({key for key, stop in self.stops.items() if stop.owner == owner})
            self.beat(owner)

    @precondition(lambda self: self.is_monitored)
    @rule(owner=st.sampled_from(WORKERS), rounds=st.integers(1, ROUNDS + 1))
    def hang(self, owner: int, rounds: int) -> None:
        """Let a worker start what it gets, which is stopped, some times; the last stops stay."""
        for _ in range(rounds):
            self.run(self.confirm_all())
            self.note_gone(set(self.stops))
            self.look_at_limits(gives_up=False)
            self.claim(owner, 2)
            self.start(owner, list(range(10)))
            self.beat(owner)
            self.look_at_limits(gives_up=False)

    async def confirm_all(self) -> None:
        """Let workers end all that was stopped."""
        for owner, one in self.stops.values():
            await self.workers[owner].end(one)

    @rule(owner=st.sampled_from(WORKERS), end=st.sampled_from([FAILS, WAITS, TOO_LONG]))
    def fail_all(self, owner: int, end: End) -> None:
        """Let all that a worker can get end in one report without success."""
        self.claim(owner, 10)
        self.complete(owner, list(range(20)), [end] * 20, ran=True, limit=0)

    # ------------------------------------------------------------------ the driver

    @precondition(lambda self: self.is_monitored)
    @rule(gives_up=st.sampled_from([False, False, False, True]))
    def look_at_limits(self, *, gives_up: bool) -> None:
        """Let all limits come, and perhaps the dates at which workers are given up."""
        self.run(self.world.admin.execute(AN_HOUR_PASSES, self.ids))
        if gives_up:
            self.run(self.world.admin.execute(STOPS_ARE_DUE, self.ids))
        rows = self.run(self._stop_overdue())
        if gives_up:
            late = {stop.owner for key, stop in self.stops.items() if key not in self.gone}
            for owner in sorted(late):
                self.begin_again(owner)
        self._go_on_after_stops()
        stopped = [self._stop(which, job) for which, job in self._overdue()]
        found = {(row["batch_id"], row["job_id"], row["attempt"]): row["goes_on"] for row in rows}
        assert found == dict(stopped)

    async def _stop_overdue(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        epoch = await self.world.lead()
        while rows := await self.world.driver.stop_overdue(epoch, limit_jobs=1000, confirm_s=600):
            found += [dict(row) for row in rows if row["batch_id"] in self.ids]
        return found

    def _overdue(self) -> list[tuple[int, Job]]:
        found = []
        for which in BATCHES:
            for job in self.models[which].jobs.values():
                is_due = job.watched is not None and (job.watched or job.is_silent)
                if job.state == RUN and is_due and job.watched == job.started:
                    found.append((which, job))
                elif is_due:
                    job.watched = None
        return found

    def _stop(self, which: int, job: Job) -> tuple[Key, bool]:
        owner, one = self.held.pop((which, job.number))
        key = (one.batch_id, one.job_id, one.attempt)
        self.stops[key] = Stop(owner, one)
        self.ended.append((owner, one, Reason.OVERDUE))
        goes_on = job.n_stops < ROUNDS
        self.models[which].end((job.number, End(Reason.OVERDUE), job.started))
        return key, goes_on

    def _go_on_after_stops(self) -> None:
        """Let jobs go on whose attempts are gone."""
        for key in self.gone:
            del self.stops[key]
            batch, number, attempt = key
            if batch in self.ids:
                model = self.models[self.ids.index(batch)]
                job = model.jobs[number]
                if job.state == B and job.waits_for == STOPPED and job.attempt == attempt:
                    model.go_on(number)
        self.gone = set()
