"""`--resume`: what lines that succeeded in earlier runs of the same name have left."""

import shlex
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from weft.cli.terminal.progress_line import ProgressLine
from weft.cli.terminal.report import note
from weft.cli.terminal.runs import find_runs
from weft.client.api import Api
from weft.core.errors import BadId, NotFound
from weft.core.ids import format_batch_id, parse_batch_id


class NothingToResume(NotFound, code="CLI.NOTHING_TO_RESUME"):
    """No earlier run has this name."""


@dataclass(frozen=True)
class EarlierRuns:
    """The jobs that succeeded in earlier runs."""

    name: str = ""
    jobs: dict[str, deque[tuple[int, int]]] = field(default_factory=lambda: defaultdict(deque))
    """Batch and number of each, by name."""
    commands: dict[str, Sequence[str]] = field(default_factory=dict)
    """What the first job of each batch ran, by name."""

    def take(self, name: str) -> tuple[int, int] | None:
        """Return the next job of this name, once."""
        return self.jobs[name].popleft() if self.jobs.get(name) else None

    def note_other_command(self, name: str, command: Sequence[str]) -> None:
        """Say if the job of this name ran another command, as far as that is known."""
        was = self.commands.pop(name, command)
        if list(was) != list(command):
            note(f"the command was `{shlex.join(was)}`; what succeeded with it does not run again")


async def find_earlier(client: Api, text: str) -> EarlierRuns:
    """Return what the runs called `text`, or the run of batch `text`, have done.

    One that is not complete (its `weft each` was killed) is waited for: its jobs are not run
    twice.
    """
    batches = await _runs(client, text)
    earlier = EarlierRuns(str(batches[0]["name"]))
    for batch in reversed(batches):
        await _wait_until_complete(client, batch)
        first: Mapping[str, Any] | None = None
        async for job in client.list_jobs(batch["id"], states=["success"]):
            first = first or job
            earlier.jobs[job["name"]].append((batch["id"], job["job_id"]))
        if first is not None:
            spec = (await client.get_job(batch["id"], first["job_id"])).get("spec") or {}
            if "command" in spec:
                earlier.commands[first["name"]] = spec["command"]
    return earlier


async def _runs(client: Api, text: str) -> list[Mapping[str, Any]]:
    """Return the batches of the last new run and what resumed it, newest first."""
    runs = await find_runs(client, await _name(client, text))
    if not runs:
        raise NothingToResume(
            f"no earlier run of `weft each` is named {text!r}",
            detail="A run is identified by its --name or by its batch.",
            hint="`weft ls` lists batches and their names.",
        )
    return runs


async def _name(client: Api, text: str) -> str:
    """Return the name of a batch that was given by its id, else the text itself."""
    try:
        batch = await client.get_batch(parse_batch_id(text))
    except (BadId, NotFound):
        return text
    return str(batch["name"] or text)


async def _wait_until_complete(client: Api, batch: Mapping[str, Any]) -> None:
    if batch["complete"]:
        return
    name = format_batch_id(batch["id"])
    n_left = batch["n_jobs"] - batch["n_completed"]
    note(f"{name} still has {n_left:,} unfinished jobs of an earlier run; waiting for them")
    with ProgressLine(name) as progress:
        async with aclosing(client.watch_batch(batch["id"])) as documents:
            async for document in documents:
                progress.update(document)
