"""What the keys of `weft top` do to a batch, a job or an incident."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from weft.cli.commands.retry import said as retry_said
from weft.cli.terminal.names import state_words
from weft.cli.terminal.plain import one_line
from weft.cli.top.state import Document, View
from weft.client.api import Api
from weft.client.objects.operation import end_of
from weft.client.progress import Progress
from weft.core.ids import format_batch_id, format_job_ref

NAME_CHARS = 30


@dataclass(frozen=True)
class Action:
    """Something to do. `question`: asked before, unless it is empty; `act` returns what was
    done.
    """

    question: str
    act: Callable[[Api], Awaitable[str]]


def action_of(key: str, view: View, one: Document) -> Action | None:
    """Return what a key does to what is selected; None: nothing."""
    if view.kind == "incidents":
        return _test(one) if key == "t" else None
    if "job_id" in one:
        return _of_job(key, one["batch_id"], one["job_id"], one)
    return _of_batch(key, one) if view.kind == "batches" else None


def _of_batch(key: str, batch: Document) -> Action | None:
    batch_id, name = batch["id"], format_batch_id(batch["id"])
    called = f"{name} {one_line(batch['name'] or '', width=NAME_CHARS)}".strip()
    if key == "c":
        left = batch["n_jobs"] - batch["n_completed"]
        jobs = f"{left:,} of its {batch['n_jobs']:,} jobs have not ended"

        async def cancel(client: Api) -> str:
            answer = await client.cancel_batch(batch_id)
            return f"{name} had ended" if answer.get("had_ended") else f"{name}: cancelled"

        return Action(f"cancel {called}? {jobs}", cancel)
    if key == "r":
        n_failed = batch["n_failed"] + batch["n_errored"]
        return Action(
            f"run the failed jobs ({n_failed:,}) of {called} again?",
            lambda client: _retry(client, name, batch_id, None),
        )
    if key == "h":

        async def hold(client: Api) -> str:
            method = client.release_batch if batch.get("held") else client.hold_batch
            return f"{name}: {'held' if (await method(batch_id))['held'] else 'released'}"

        return Action("", hold)
    return None


def _of_job(key: str, batch_id: int, job_id: int, job: Document) -> Action | None:
    name = format_job_ref(batch_id, job_id)
    called = f"{name} {one_line(job.get('name') or '', width=NAME_CHARS)}".strip()
    if key == "c":

        async def cancel(client: Api) -> str:
            answer = await client.cancel_job(batch_id, job_id)
            return f"{name}: {answer.get('result', 'cancelled')}"

        state = f" It is {state_words(job)}." if "state" in job else ""
        return Action(f"cancel {called}?{state}", cancel)
    if key == "r":
        return Action(
            f"run {called} again?", lambda client: _retry(client, name, batch_id, [job_id])
        )
    if key == "h":

        async def hold(client: Api) -> str:
            method = client.release_job if job.get("held") else client.hold_job
            return f"{name}: {(await method(batch_id, job_id)).get('result', 'held')}"

        return Action("", hold)
    return None


async def _retry(client: Api, name: str, batch_id: int, jobs: list[int] | None) -> str:
    operation = await client.retry_batch(batch_id, jobs=jobs)
    with Progress("", shown=False) as unseen:
        result = await end_of(client, operation, unseen)
    return f"{name}: {retry_said(result['n_retried'], result.get('n_late', 0))}"


def _test(condition: Document) -> Action:
    async def test(client: Api) -> str:
        await client.test_condition(condition["condition_id"])
        return f"c{condition['condition_id']} is tested now"

    return Action("", test)
