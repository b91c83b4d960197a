"""The state machine stands in core and in SQL: they agree, and the trigger enforces it."""

import asyncpg
import pytest

from builders import job_rows
from end_states import SYSTEM_REASONS, state_of_end
from store.world import Worker, World
from weft.core.states import TRANSITIONS, JobState, Reason

ALLOWED = {(int(one), int(other)) for one, others in TRANSITIONS.items() for other in others}


async def test_table_of_transitions_equals_core(world: World) -> None:
    rows = await world.admin.fetch("SELECT from_state, to_state FROM weft.job_transition")

    assert {tuple(row) for row in rows} == ALLOWED


async def test_words_equal_core(world: World) -> None:
    states = await world.admin.fetch("SELECT state, word FROM weft.job_state")
    reasons = await world.admin.fetch("SELECT reason, word FROM weft.attempt_reason")

    assert dict(map(tuple, states)) == {int(state): state.word for state in JobState}
    assert dict(map(tuple, reasons)) == {int(reason): reason.word for reason in Reason}


async def test_trigger_refuses_every_other_transition(world: World) -> None:
    """Also the owner: nobody can write a state that the table does not allow."""
    batch = await world.submit()
    change = "UPDATE weft.job SET state = $2 WHERE batch_id = $1"
    passed = set()
    for before in JobState:
        for after in JobState:
            transaction = world.admin.transaction()
            await transaction.start()
            await world.admin.execute("SET LOCAL session_replication_role = replica")
            await world.admin.execute(change, batch, before)
            await world.admin.execute("SET LOCAL session_replication_role = origin")
            try:
                await world.admin.execute(change, batch, after)
                passed.add((int(before), int(after)))
            except asyncpg.PostgresError as error:
                assert error.sqlstate == "WF900"  # noqa: PT017 (the others must pass)
            await transaction.rollback()

    assert passed == ALLOWED | {(int(state), int(state)) for state in JobState}


@pytest.mark.parametrize("reason", [None, *Reason])
async def test_state_of_end_is_what_complete_attempts_writes(
    world: World, reason: Reason | None
) -> None:
    batch, _worker = await world.submit_and_run(reason=reason)

    assert (await world.job(batch))["state"] == state_of_end(reason)


async def test_only_system_reasons_are_an_error(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(len(Reason)))
    for reason, claimed in zip(Reason, await worker.claim(), strict=True):
        await worker.end(claimed, reason=reason)
    letters = await world.states(batch)

    assert {
        one for one, letter in zip(Reason, letters, strict=True) if letter == "e"
    } == SYSTEM_REASONS


def test_a_job_that_runs_can_end_as_every_reason_says() -> None:
    ends = {state_of_end(reason) for reason in (None, *Reason)}

    assert ends <= TRANSITIONS[JobState.RUNNING]


def test_who_is_to_blame_decides_between_failed_and_error() -> None:
    assert state_of_end(None) is JobState.SUCCESS
    assert state_of_end(Reason.EXIT) is JobState.FAILED
    assert state_of_end(Reason.SIGNAL) is JobState.FAILED
    assert state_of_end(Reason.OOM) is JobState.ERROR
    assert state_of_end(Reason.TIMEOUT) is JobState.ERROR
    assert state_of_end(Reason.CANCELLED) is JobState.CANCELLED
    assert state_of_end(Reason.LOST) is JobState.READY
    assert state_of_end(Reason.PREEMPTED) is JobState.READY
