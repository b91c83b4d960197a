"""Stop a run early: `--halt`, or a job that ended with 255."""

import asyncio
from contextlib import aclosing, suppress

from weft.client.api import Api, Document
from weft.core.errors import Conflict
from weft.core.states import ENDED_WORDS
from weft_each.parts.feed import JobFeed
from weft_each.parts.ledger import LAST_WORD, Ledger
from weft_each.parts.packing import BadInputOption
from weft_each.rules.halt import Halt, parse_halt

LAST_TERM = f"exit_code = {LAST_WORD}"
UNFIT_TERM = "(reason = signal or reason = no_program)"
ENDS = {f"jobs.{state}": state for state in ENDED_WORDS}


def halt_of(text: str | None) -> Halt | None:
    """Return the rule of `--halt`. Raise `BadInputOption`."""
    try:
        return None if text is None else parse_halt(text)
    except ValueError as error:
        raise BadInputOption(
            f"--halt {text!r} is not a rule",
            detail="It says when to stop, and after how many jobs.",
            hint="Write it as now,fail=1 or soon,fail=10%, with success or done instead of fail.",
        ) from error


class HaltWatch:
    """Looks at each end, and says when the run has to stop.

    `as_xargs`: also when a program cannot be started or is killed.
    """

    def __init__(
        self, client: Api, ledger: Ledger, rule: Halt | None, *, as_xargs: bool = False
    ) -> None:
        self._client = client
        self._ledger = ledger
        self._rule = rule
        self._as_xargs = as_xargs

    async def note(self, batch_id: int, event: Document) -> None:
        """Note ended jobs in the ledger, and halt if this is enough."""
        state = ENDS.get(event["kind"])
        if state is None:
            return
        jobs = event["jobs"]
        await self._stop_after(batch_id, state, jobs)
        self._ledger.note_ended(jobs, state)  # not before: it makes room for the next jobs
        rule = self._rule
        if rule is not None and self._ledger.reaches(rule):
            self._ledger.halt(rule.when, f"--halt {rule}")

    async def _stop_after(self, batch_id: int, state: str, jobs: list[int]) -> None:
        """Halt if one of these jobs ended in a way after which no other may start."""
        if not jobs or state not in {"failed", "error"}:
            return
        if await self._has(LAST_TERM, batch_id, jobs):
            self._ledger.halt("soon", f"a job ended with {LAST_WORD}")
        elif self._as_xargs and await self._has(UNFIT_TERM, batch_id, jobs):
            self._ledger.halt("soon", "a job was killed or has no program")

    async def _has(self, term: str, batch_id: int, jobs: list[int]) -> bool:
        query = f"{term} and job_id >= {min(jobs)} and job_id <= {max(jobs)}"
        async for _ in self._client.list_jobs(batch_id, query, page_rows=1):
            return True
        return False


async def stop_when_halted(client: Api, feed: JobFeed, feeding: "asyncio.Future[None]") -> None:
    """Wait until the run has to stop; then start nothing more, and end it."""
    ledger = feed.ledger
    await ledger.halted.wait()
    if feed.batch_id is None:
        return
    with suppress(Conflict):  # the batch was cancelled by someone else
        await _stop(client, feed.batch_id, feeding, waits=ledger.halts == "soon")


async def _stop(
    client: Api, batch_id: int, feeding: "asyncio.Future[None]", *, waits: bool
) -> None:
    if waits:
        await client.hold_batch(batch_id)
        await asyncio.wait({feeding})
        async with aclosing(client.watch_batch(batch_id)) as documents:
            async for document in documents:
                if document["n_running"] == 0:
                    break
    await client.cancel_batch(batch_id, force=True)
