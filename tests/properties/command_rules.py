"""Signals, messages, longer time limits and hidden batches, as rules of the machine that calls the
core and its model.
"""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from properties.gate_rules import WORKERS
from properties.hold_rules import BATCHES
from properties.jobs_model import RUN, Job, S
from properties.rules import Rules
from weft.core import errors
from weft.ports.store import Claimed

_DELIVERED = """
    SELECT count(*) FROM weft.job_change
    WHERE batch_id = $1
        AND (subtype, message) IN (('signal', 'USR1 was delivered'),
            ('message', 'a message of 1 B was delivered'))
"""


class CommandRules(Rules):
    """Tell jobs something in any state, and let their workers hear of it or not."""

    def claim(self, owner: int, limit: int) -> None:
        raise NotImplementedError

    def start(self, owner: int, choices: list[int]) -> None:
        raise NotImplementedError

    def _job(self, which: int, choice: int) -> Job:
        """Return a job, more often one that runs."""
        jobs = [*self.models[which].jobs.values()]
        some = [job for job in jobs if job.state == RUN] if choice % 3 else []
        return (some or jobs)[choice % len(some or jobs)]

    @rule(which=st.sampled_from(BATCHES), choice=st.integers(0, 30))
    def signal(self, which: int, choice: int) -> None:
        self._signal(which, self._job(which, choice))

    def _signal(self, which: int, job: Job) -> None:
        sent = self.world.api.signal_job(
            self.world.caller, self.ids[which], job.number, signal=10, word="USR1"
        )
        if job.state != RUN or not job.started:
            with pytest.raises(errors.JobNotRunning):
                self.run(sent)
            return
        assert self.run(sent) == job.attempt
        job.n_signals += 1

    @rule(which=st.sampled_from(BATCHES), choice=st.integers(0, 30))
    def message(self, which: int, choice: int) -> None:
        self._message(which, self._job(which, choice))

    def _message(self, which: int, job: Job) -> None:
        text = "xyz"[len(job.messages) % 3]
        sent = self.world.api.message_job(
            self.world.caller, self.ids[which], job.number, text=text
        )
        if job.state != RUN or not job.started:
            with pytest.raises(errors.JobNotRunning):
                self.run(sent)
            return
        assert self.run(sent) == job.attempt
        job.messages.append(text)

    @rule(which=st.sampled_from(BATCHES), choice=st.integers(0, 30))
    def extend(self, which: int, choice: int) -> None:
        self._extend(which, self._job(which, choice))

    def _extend(self, which: int, job: Job) -> None:
        by_ms = 1000 + job.number
        extended = self.world.api.extend_job(
            self.world.caller, self.ids[which], job.number, by_ms=by_ms
        )
        if job.state >= S:
            with pytest.raises(errors.JobOver):
                self.run(extended)
            return
        job.extended_ms, job.knows_extension = job.extended_ms + by_ms, 0
        assert self.run(extended) == job.extended_ms

    @rule(
        owner=st.sampled_from(WORKERS),
        answers=st.booleans(),
        choice=st.integers(0, 9),
        kind=st.sampled_from(["", "_signal", "_message", "_extend"]),
    )
    def hear(self, owner: int, choice: int, kind: str, *, answers: bool) -> None:
        """Let a worker start something and ask for commands, perhaps after one more for a job that
        it has; with `answers` it also says what came of them.
        """
        self.claim(owner, 2)
        self.start(owner, [choice])
        mine = [(which, one) for (which, _), (who, one) in self.held.items() if who == owner]
        keys = [(one.batch_id, one.job_id, one.attempt) for _which, one in mine]
        if kind and mine:
            which, one = mine[choice % len(mine)]
            getattr(self, kind)(which, self.models[which].jobs[one.job_id])
        worker = self.workers[owner]
        found, asks_again = self.run(worker.store.list_commands(worker.id, keys))
        self._forget_extensions()
        expected = []
        for which, one in mine:
            job = self.models[which].jobs[one.job_id]
            key = (one.batch_id, one.job_id, one.attempt)
            expected += [(*key, 10, 0, "")] * job.n_signals
            expected += [(*key, 0, 0, text) for text in job.messages]
            if job.extended_ms and job.knows_extension != job.attempt:
                expected.append((*key, 0, job.extended_ms, ""))
        told = [
            (
                c.key.batch_id,
                c.key.job_id,
                c.key.attempt,
                c.signal or 0,
                c.extra_ms,
                c.message or "",
            )
            for c in found
        ]
        assert sorted(told) == sorted(expected)
        assert asks_again or not any(job.extended_ms for job in self._all_jobs())
        if answers:
            acknowledged = [(one.number, one.key, "") for one in found]
            self.run(worker.store.acknowledge_commands(worker.id, acknowledged))
            assert self.run(worker.store.list_commands(worker.id, keys))[0] == []
            self._note_answers(mine)

    def _all_jobs(self) -> list[Job]:
        return [job for model in self.models for job in model.jobs.values()]

    def _forget_extensions(self) -> None:
        for job in self._all_jobs():
            if job.state >= S:
                job.extended_ms = job.knows_extension = 0

    def _note_answers(self, mine: list[tuple[int, Claimed]]) -> None:
        for which, one in mine:
            job = self.models[which].jobs[one.job_id]
            self.models[which].n_delivered += job.n_signals + len(job.messages)
            job.n_signals, job.messages, job.knows_extension = 0, [], job.attempt
        for batch, model in zip(self.ids, self.models, strict=True):
            n_delivered = self.run(self.world.admin.fetchval(_DELIVERED, batch))
            assert n_delivered == model.n_delivered

    @rule(which=st.sampled_from(BATCHES), hidden=st.booleans())
    def hide(self, which: int, *, hidden: bool) -> None:
        """Hide a batch, or show it again; all else stays as it is."""
        model = self.models[which]
        is_new = self.run(
            self.world.api.hide_batch(self.world.caller, self.ids[which], hidden=hidden)
        )
        assert is_new == (model.hidden != hidden)
        model.hidden = hidden
        for with_hidden in (False, True):
            found = self.run(
                self.world.api.list_batches(
                    self.world.caller, before=None, limit=1000, name=None, hidden=with_hidden
                )
            )
            assert {one["id"] for one in found} == {
                batch
                for batch, one in zip(self.ids, self.models, strict=True)
                if with_hidden or not one.hidden
            }
