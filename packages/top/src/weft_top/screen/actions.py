"""What the keys of `weft top` do to a batch, a job, a worker or an incident, and who may."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from weft.cli.terminal.names import retried_words, state_words, worker_state
from weft.cli.terminal.plain import one_line
from weft.client.api import Api
from weft.client.objects.operation import end_of
from weft.core.access.rights import Right
from weft.core.ids import format_batch_id, format_job_ref
from weft.core.text.amounts import counted
from weft_top.screen.state import Document, View

NAME_CHARS = 30
_STOPPED = ("cordoned", "draining")


@dataclass(frozen=True)
class Action:
    """Something to do. `question`: asked first, if not empty; `act` returns what was done."""

    question: str
    act: Callable[[Api], Awaitable[str]]


@dataclass(frozen=True)
class Key:
    """A key that changes something. `hint`: what the last line says of it; `help`: what the list
    of keys says.
    """

    key: str
    right: Right
    hint: str
    help: str
    kinds: Collection[str]
    """The views in which it does that."""


_OF_JOBS = ("batches", "jobs", "running", "blocked", "log")
KEYS: Sequence[Key] = (
    Key("c", Right.WRITE, "cancel", "cancel the batch or job; asks before", _OF_JOBS),
    Key("r", Right.WRITE, "retry", "run its failed jobs again; asks before", _OF_JOBS),
    Key("h", Right.WRITE, "hold", "hold it, or release it", _OF_JOBS),
    Key("t", Right.WRITE, "test now", "test an incident now", ("incidents",)),
    Key(
        "c",
        Right.ADMINISTER,
        "cordon",
        "cordon a worker (no new jobs), or uncordon it; asks before",
        ("workers",),
    ),
    Key(
        "d",
        Right.ADMINISTER,
        "drain",
        "drain a worker: it ends after the jobs that it has; asks before",
        ("workers",),
    ),
)


def action_hints(kind: str, rights: Collection[str]) -> list[str]:
    """Return the hints for what somebody with these rights may do in a view."""
    return [f"{key.key} {key.hint}" for key in KEYS if kind in key.kinds and key.right in rights]


def action_help(rights: Collection[str]) -> list[tuple[str, str]]:
    """Return each key with what it does, those that these rights allow."""
    return [(key.key, key.help) for key in KEYS if key.right in rights]


def right_of(key: str, kind: str) -> Right | None:
    """Return the right that a key needs in a view; None: it does nothing there."""
    found = (one.right for one in KEYS if one.key == key and kind in one.kinds)
    return next(found, None)


def action_of(key: str, view: View, one: Document) -> Action | None:
    """Return what a key does to what is selected; None: nothing."""
    if right_of(key, view.kind) is None:
        return None
    if view.kind == "incidents":
        return _test(one)
    if view.kind == "workers":
        return _of_worker(key, one)
    if "job_id" in one:
        return _of_job(key, one["batch_id"], one["job_id"], one)
    return _of_batch(key, one)


def _of_batch(key: str, batch: Document) -> Action:
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

    async def hold(client: Api) -> str:
        method = client.release_batch if batch.get("held") else client.hold_batch
        return f"{name}: {'held' if (await method(batch_id))['held'] else 'released'}"

    return Action("", hold)


def _of_job(key: str, batch_id: int, job_id: int, job: Document) -> Action:
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

    async def hold(client: Api) -> str:
        method = client.release_job if job.get("held") else client.hold_job
        return f"{name}: {(await method(batch_id, job_id)).get('result', 'held')}"

    return Action("", hold)


def _of_worker(key: str, worker: Document) -> Action:
    name, pool = worker["worker"], worker["pool"]
    called = f"{one_line(name, width=NAME_CHARS)} of pool {one_line(pool, width=20)}"
    n_jobs = worker["n_running"]
    jobs = "many jobs" if n_jobs is None else counted(n_jobs, "job")
    if key == "d":
        question = f"drain {called}? It takes no new jobs, and ends after those it has ({jobs})."
        return Action(question, _change_worker(Api.drain_worker, name, pool))
    if worker.get("state") in _STOPPED:
        question = f"uncordon {called}? It takes jobs again."
        return Action(question, _change_worker(Api.uncordon_worker, name, pool))
    question = f"cordon {called}? It takes no new jobs; those it has ({jobs}) go on."
    return Action(question, _change_worker(Api.cordon_worker, name, pool))


def _change_worker(
    change: Callable[..., Awaitable[Document]], name: str, pool: str
) -> Callable[[Api], Awaitable[str]]:
    async def act(client: Api) -> str:
        return f"{name}: {worker_state(await change(client, name, pool=pool))}"

    return act


async def _retry(client: Api, name: str, batch_id: int, jobs: list[int] | None) -> str:
    operation = await client.retry_batch(batch_id, jobs=jobs)
    result = await end_of(client, operation, "", shown=False)
    return f"{name}: {retried_words(result['n_retried'], result.get('n_late', 0))}"


def _test(condition: Document) -> Action:
    async def test(client: Api) -> str:
        await client.test_condition(condition["condition_id"])
        return f"c{condition['condition_id']} is tested now"

    return Action("", test)
