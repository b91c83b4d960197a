"""Wait for a batch, a group or a job with a progress bar, and say how it ended."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from typing import Any

from weft.cli.terminal.exit_code import FAILED
from weft.cli.terminal.names import group_name
from weft.cli.terminal.progress_line import ProgressLine
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_json
from weft.cli.terminal.waits import waits_told
from weft.client.api import Api, Document
from weft.client.http.blocking import asyncio
from weft.core.ends.end_words import explain_end
from weft.core.errors import OutputElsewhere
from weft.core.ids import format_batch_id, format_job_ref
from weft.core.states import shown_state

IsLate = Callable[[], bool]


def never() -> bool:
    """Return that no time limit has passed: there is none."""
    return False


async def wait_for_batch(
    client: Api, batch_id: int, *, as_json: bool, is_late: IsLate = never
) -> int:
    """Show progress until the batch is complete; return 0 if it succeeded, else 1."""
    name, look = format_batch_id(batch_id), lambda: client.get_batch(batch_id)
    return await _wait_for_all(client, batch_id, look, name, as_json=as_json, is_late=is_late)


async def wait_for_group(
    client: Api, group: Document, *, as_json: bool, is_late: IsLate = never
) -> int:
    """Show progress until the group is complete; return 0 if it succeeded, else 1."""
    batch_id, group_id = int(group["batch_id"]), int(group["group_id"])
    name, look = group_name(group), lambda: client.get_group(batch_id, group_id)
    return await _wait_for_all(client, batch_id, look, name, as_json=as_json, is_late=is_late)


@contextmanager
def _runs_on(name: str, is_late: IsLate) -> Iterator[None]:
    """Say at Ctrl-C what becomes of what was waited for; `is_late`: the caller says it."""
    try:
        yield
    except asyncio.CancelledError:
        if not is_late():
            note(f"{name} runs on; `weft cancel {name}` ends it, `weft wait {name}` waits again")
        raise


async def _wait_for_all(
    client: Api,
    batch_id: int,
    look: Callable[[], Awaitable[Document]],
    name: str,
    *,
    as_json: bool,
    is_late: IsLate,
) -> int:
    """Show progress until all jobs have ended, and what is waited for; return the exit code."""
    last: Document = {}
    with _runs_on(name, is_late), ProgressLine(name) as progress:

        def say(reason: str) -> None:
            progress.hide()
            note(reason)

        documents = client.watch(batch_id, look)
        async with waits_told(client, look, say=say), aclosing(documents):
            async for last in documents:
                progress.update(last)
    if as_json:
        print_json(last)
    else:
        _say_end(last, name)
    return 0 if last["state"] == "success" else FAILED


def _say_end(batch: Document, name: str) -> None:
    counts = {
        "succeeded": batch["n_succeeded"],
        "failed": batch["n_failed"],
        "errored": batch["n_errored"],
        "cancelled": batch["n_cancelled"],
    }
    words = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    if not words and batch["state"] == "success":
        note(f"{name}: success; it has no jobs, so there was nothing to wait for")
        return
    note(f"{name}: {shown_state(batch)}; {words or 'no jobs'}")
    if batch["state"] != "success":
        note(f"`weft status {name}` shows the jobs that did not succeed")


async def wait_for_job(
    client: Api, batch_id: int, job_id: int, *, as_json: bool, is_late: IsLate = never
) -> int:
    """Wait until the job has ended and say how; return 0 if it succeeded, else 1."""
    end: dict[str, Any] = {}
    name = format_job_ref(batch_id, job_id)
    telling = waits_told(client, lambda: client.get_job(batch_id, job_id))
    with _runs_on(name, is_late), suppress(OutputElsewhere):  # nobody asked for it
        async with telling, aclosing(client.follow_log(batch_id, job_id)) as events:
            async for event in events:
                if event.kind == "end":
                    end = dict(event.facts)
    if as_json:
        print_json({"batch_id": batch_id, "job_id": job_id, **end})
    else:
        note(f"{name}: {explain_end(end)}")
    return 0 if end["state"] == "success" else FAILED
