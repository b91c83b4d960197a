"""What every adapter of the port `WorkerStore` must do: a suite that an author subclasses.

The adapter does not remember claims: the agent passes in what it remembers.
"""

import dataclasses
from collections.abc import Sequence

from msgspec.structs import replace

from weft.core.attempt_key import AttemptKey
from weft.core.ends.conditions import Ask
from weft.core.scheduling.black_holes import AvoidedNode
from weft.core.states import Phase, Reason
from weft.ports.store import (
    Claimed,
    ClaimRequest,
    EndReport,
    FileWanted,
    KeptFile,
    PhaseReport,
    ProgressReport,
    Registered,
    WorkerStore,
)
from weft.testing.builders import end_report, start_report
from weft.wire.spec import decode_chunk

MUCH = 10**8


def request(limit_jobs: int = 100, *, call: int = 1) -> ClaimRequest:
    """Return a request that only the number of jobs limits."""
    return ClaimRequest(
        budget_cpu_m=MUCH, budget_memory_mib=MUCH, limit_jobs=limit_jobs, call=call
    )


def key_of(claimed: Claimed) -> tuple[int, int, int]:
    """Return batch, job and attempt."""
    return claimed.batch_id, claimed.job_id, claimed.attempt


class WorkerStoreSuite:
    """Tests of the port. Each test has jobs that no other worker sees."""

    async def worker(self, n_jobs: int) -> tuple[WorkerStore, Registered]:
        """Submit jobs, register a worker that may run all of them, and return its store."""
        raise NotImplementedError

    async def claim(self, n_jobs: int) -> tuple[WorkerStore, int, Sequence[Claimed]]:
        """Submit jobs and claim them."""
        store, registered = await self.worker(n_jobs)
        claimed = await store.claim_jobs(registered.incarnation_id, request())
        assert len(claimed) == n_jobs
        return store, registered.incarnation_id, claimed

    async def test_each_job_is_claimed_once(self) -> None:
        """And with a spec that can be read."""
        store, registered = await self.worker(3)
        worker = registered.incarnation_id
        first = await store.claim_jobs(worker, request(2))
        second = await store.claim_jobs(worker, request(2, call=2))
        assert sorted(claimed.job_id for claimed in (*first, *second)) == [1, 2, 3]
        assert list(await store.claim_jobs(worker, request(call=3))) == []
        claimed = first[0]
        chunks = await store.get_chunks([claimed.batch_id], [claimed.chunk_first])
        chunk = chunks[claimed.batch_id, claimed.chunk_first]
        assert claimed.chunk in {None, chunk}
        assert len(decode_chunk(chunk)) > claimed.job_id - claimed.chunk_first

    async def test_worker_sleeps_only_if_there_is_no_work(self) -> None:
        """For which it need not ask for jobs."""
        store, registered = await self.worker(1)
        worker = registered.incarnation_id
        assert await store.wait_for_work(worker)
        await store.claim_jobs(worker, request())
        assert not await store.wait_for_work(worker)

    async def test_payload_that_is_not_there_has_no_parts(self) -> None:
        """`ApiStoreSuite` stores one and reads it."""
        store, _incarnation_id, (claimed,) = await self.claim(1)
        assert await store.get_payload_part(claimed.batch_id, bytes(32), 1) is None

    async def test_application_that_the_batch_does_not_run_has_no_parts(self) -> None:
        """`AppStoreSuite` stores one, which jobs run."""
        store, _incarnation_id, (claimed,) = await self.claim(1)
        assert await store.get_app_part(claimed.batch_id, bytes(32), 1) is None

    async def test_job_users_are_those_of_batch_and_submission(self) -> None:
        """Jobs that are gone are left out."""
        store, _incarnation_id, (claimed,) = await self.claim(1)
        (found,) = await store.list_job_users([(claimed.batch_id, claimed.job_id), (1 << 40, 1)])
        assert found[:2] == (claimed.batch_id, claimed.job_id)
        assert min(found.tenant_id, found.owner_id) > 0
        assert found.tenant
        assert found.submitter

    async def test_installation_has_a_tenant_of_its_own(self) -> None:
        """It has one as soon as somebody submits jobs."""
        store, _incarnation_id, _ = await self.claim(1)
        assert await store.home_tenant()

    async def test_secrets_are_for_attempts_that_the_worker_has(self) -> None:
        """`ApiStoreSuite` sets one and reads it."""
        store, worker, (one,) = await self.claim(1)
        key = AttemptKey(*key_of(one))
        later, elsewhere = AttemptKey(*key_of(one)[:2], one.attempt + 1), AttemptKey(1 << 40, 1, 1)
        wanted = [(of, "db") for of in (later, key, elsewhere)]
        before, found, after = await store.get_secrets(worker, wanted)
        assert before is after is None
        assert found is not None
        assert (found.row.name, found.body) == ("db", None)
        assert list(await store.get_secrets(worker + 1_000_000, [(key, "db")])) == [None]

    async def test_stores_are_told_for_live_attempts_only(self) -> None:
        """Those of the attempt's tenant; `FileStoreStoreSuite` sets one."""
        store, worker, (claimed,) = await self.claim(1)
        key = AttemptKey(*key_of(claimed))
        assert list(await store.find_stores(worker, key, ["none", "nor this"])) == [None, None]
        later = AttemptKey(*key_of(claimed)[:2], claimed.attempt + 1)
        assert list(await store.find_stores(worker, later, ["none"])) == []

    async def test_batches_that_are_there_or_never_were_are_not_removed(self) -> None:
        """They are removed only when somebody deleted them."""
        store, _incarnation_id, (claimed,) = await self.claim(1)
        assert list(await store.list_removed([claimed.batch_id, 1 << 40])) == []

    async def test_worker_without_commands_is_told_nothing(self) -> None:
        """And one that tells of a command that is gone changes nothing."""
        store, worker, (claimed,) = await self.claim(1)
        key = AttemptKey(*key_of(claimed))
        await store.acknowledge_commands(worker, [(1 << 40, key, "")])
        commands, _ = await store.list_commands(worker, [key_of(claimed)])
        assert list(commands) == []

    async def test_time_limits_without_rules_are_those_of_the_specs(self) -> None:
        """So the store knows nothing about them, nor about jobs that are gone."""
        store, _incarnation_id, (claimed,) = await self.claim(1)
        assert dict(await store.list_time_limits([key_of(claimed), (1 << 40, 1, 2)])) == {}

    async def test_nodes_that_are_avoided_may_be_told_again(self) -> None:
        """Also none."""
        store, worker, _ = await self.claim(1)
        for nodes in ([AvoidedNode("n1", 60.0, "bad")], []):
            for _ in range(2):
                await store.note_avoided(worker, nodes)

    async def test_tenants_without_lists_let_jobs_choose_anything(self) -> None:
        """Nor is there a list of a batch that is gone."""
        store, _incarnation_id, (claimed,) = await self.claim(1)
        assert dict(await store.list_choices([claimed.batch_id, 1 << 40])) == {}

    async def test_jobs_that_ended_or_are_gone_are_listed(self) -> None:
        """One that is tried again has not ended."""
        store, worker, (claimed, other) = await self.claim(2)
        asked = [(claimed.batch_id, claimed.job_id), (other.batch_id, other.job_id), (1 << 40, 1)]
        assert list(await store.list_ended_jobs(asked)) == [(1 << 40, 1)]
        returned = end_report(other, Reason.PREEMPTED, start_age_us=None)
        await store.complete_attempts(worker, [end_report(claimed), returned])
        assert sorted(await store.list_ended_jobs(asked)) == [asked[0], (1 << 40, 1)]

    async def test_reports_are_repeated_without_harm_and_stale_ones_refused(self) -> None:
        """One verdict per report, in their order."""
        store, worker, (one, other) = await self.claim(2)
        stale = replace(end_report(other), attempt=other.attempt + 1)
        assert await store.start_attempts(worker, [start_report(one)]) == ["ok"]
        assert await store.complete_attempts(worker, [end_report(one), stale]) == ["ok", "stale"]
        assert await store.complete_attempts(worker, [end_report(one)]) == ["ok"]

    async def test_ends_and_a_claim_are_one_call(self) -> None:
        """Verdicts and what was claimed."""
        store, registered = await self.worker(2)
        worker = registered.incarnation_id
        (one,) = await store.claim_jobs(worker, request(1))
        verdicts, claimed = await store.complete_and_claim(
            worker, [end_report(one)], request(1, call=2)
        )
        assert list(verdicts) == ["ok"]
        assert [other.job_id for other in claimed] == [2]

    async def test_what_is_handed_back_is_claimed_again(self) -> None:
        """With the next number of attempt."""
        store, worker, (claimed,) = await self.claim(1)
        returned = end_report(claimed, Reason.PREEMPTED, start_age_us=None)
        assert await store.complete_attempts(worker, [returned]) == ["ok"]
        (again,) = await store.claim_jobs(worker, request(call=2))
        assert key_of(again) == (claimed.batch_id, claimed.job_id, claimed.attempt + 1)

    async def test_what_an_attempt_waits_for_is_noted(self) -> None:
        """While the worker has it; a repeat changes nothing."""
        store, worker, (one,) = await self.claim(1)
        key, ask = AttemptKey(*key_of(one)), Ask("custom", "tcp", {"host": "h", "port": "1"})
        later = AttemptKey(one.batch_id, one.job_id, one.attempt + 1)
        assert not await store.ask_block(worker, later, ask)
        for _ in range(2):
            assert await store.ask_block(worker, key, ask)
        assert await store.complete_attempts(worker, [end_report(one, Reason.BLOCKED)]) == ["ok"]
        assert not await store.ask_block(worker, key, ask)

    async def test_phases_are_recorded(self) -> None:
        """In sets, each with a verdict."""
        store, worker, (claimed,) = await self.claim(1)
        batch_id, job_id, attempt = key_of(claimed)
        reports = [
            PhaseReport(
                batch_id=batch_id,
                job_id=job_id,
                attempt=number,
                phase=Phase.COLLECTING,
                message="on n1",
            )
            for number in (attempt, attempt + 1)
        ]
        assert await store.record_phases(worker, reports) == ["ok", "stale"]
        for number in (attempt, attempt + 1):
            report = ProgressReport(batch_id, job_id, number, 40.5, "so far")
            await store.record_progress(worker, [report])

    async def test_what_is_stale_is_to_be_stopped(self) -> None:
        """By the list and by the answer to a heartbeat."""
        store, worker, (claimed, other) = await self.claim(2)
        await store.complete_attempts(worker, [end_report(claimed)])
        held = [key_of(claimed), key_of(other)]
        assert list(await store.list_to_stop(worker, held)) == [key_of(claimed)]
        answer = await store.heartbeat(worker, held, draining=False, heard=[1])
        assert answer.alive
        assert list(answer.to_stop) == [key_of(claimed)]

    async def test_a_worker_that_registers_again_gets_its_own_back(self) -> None:
        """The same incarnation: what it holds is live."""
        store, registered = await self.worker(2)
        claimed = await store.claim_jobs(registered.incarnation_id, request(1))
        again = await self.register_again()
        assert again.incarnation_id == registered.incarnation_id
        assert [key_of(one) for one in again.live] == [key_of(one) for one in claimed]

    async def register_again(self) -> Registered:
        """Register the worker of this test once more, with the same incarnation."""
        raise NotImplementedError

    async def test_a_worker_that_does_not_drain_goes_on(self) -> None:
        """Only an operator lets it drain."""
        store, registered = await self.worker(1)
        worker = registered.incarnation_id
        assert not await store.finish_drain(worker)
        answer = await store.heartbeat(worker, [], draining=False)
        assert (answer.alive, answer.drains) == (True, False)
        assert len(await store.claim_jobs(worker, request())) == 1

    async def test_a_worker_that_is_not_kept_claims_nothing_reserved(self) -> None:
        """Only a driver keeps workers for jobs."""
        store, registered = await self.worker(1)
        claimed, _ = await store.claim_reserved(registered.incarnation_id, request())
        assert list(claimed) == []
        answer = await store.heartbeat(registered.incarnation_id, [], draining=False)
        assert not answer.kept

    async def test_what_fits_passes_a_job_that_waits_for_room(self) -> None:
        """Asked for by the worker that has claimed it, and has not started it."""
        store, registered = await self.worker(3)
        worker = registered.incarnation_id
        (first,) = await store.claim_jobs(worker, request(1))
        asked = dataclasses.replace(request(), passes=(first.batch_id, first.job_id))
        claimed, fills = await store.claim_reserved(worker, asked)
        assert (len(claimed), fills) == (2, True)

    async def test_a_worker_that_left_is_not_alive(self) -> None:
        """What it had is given to others."""
        store, worker, (claimed,) = await self.claim(1)
        await store.leave(worker)
        answer = await store.heartbeat(worker, [key_of(claimed)], draining=False)
        assert not answer.alive
        ends: list[EndReport] = [end_report(claimed)]
        assert await store.complete_attempts(worker, ends) == ["stale"]

    async def test_files_of_a_job_are_found_when_it_has_ended(self) -> None:
        """By its number, in its own batch; files of a stranger's attempt are not recorded."""
        store, worker, claimed = await self.claim(2)
        first, second = sorted(claimed, key=key_of)
        kept = KeptFile("out/a\nb", 3, bytes(32))
        wanted = [
            FileWanted(None, first.job_id, None, "out/a\nb"),
            FileWanted(first.batch_id, first.job_id, None, "other"),
            FileWanted(None, 0, None, "out/a\nb"),
            FileWanted(None, 0, "nobody", "out/a\nb"),
        ]
        reader = AttemptKey(*key_of(second))
        key = AttemptKey(*key_of(first))
        for _ in range(2):
            assert await store.record_files(worker, key, [kept], staging_ms=1, storing_ms=2)
        before = await store.find_files(worker, reader, wanted)
        assert [one and one.digest for one in before] == [None] * 4
        await store.complete_attempts(worker, [end_report(first)])
        files = await store.find_files(worker, reader, wanted)
        digests = [None if one is None else one.digest for one in files]
        assert not await store.record_products(worker, key, [{"type": "FSC"}], inputs=None)
        assert await store.record_products(worker, reader, [{"type": "FSC"}], inputs=None)
        assert digests == [bytes(32), None, bytes(32), None]
        assert not await store.record_files(worker, key, [kept], staging_ms=1, storing_ms=2)
        assert await store.find_files(worker, key, wanted) == [None] * 4
