"""Single jobs, in the api's store."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import asyncpg
import msgspec

from weft.ports.log_store import AttemptLog
from weft.ports.store import (
    Caller,
    EditLimits,
    JobEntry,
    Patch,
    Row,
)
from weft.store.database import StorePart
from weft.store.declared import (
    actor,
    calls,
    filled,
    number,
    records,
    truth,
    value,
)
from weft.store.documents import entry_of, reason_word, with_words
from weft.store.worker_files import directory_of, location_of
from weft.wire.spec import decode_chunk

PARENTS_SHOWN = 100
"""In the document of a job, however many it has."""


PARENTS_COUNTED = 1000


def _attempt_logs(rows: Sequence[asyncpg.Record]) -> list[AttemptLog]:
    directories = cache(directory_of)  # many jobs, few workers
    return [
        filled(
            AttemptLog,
            row,
            location=location_of(row["segment"], row["log_offset"]),
            reason=reason_word(row["reason"]),
            directory=directories(row["log_place"], row["host"], row["log_directory"]),
        )
        for row in rows
    ]


class Jobs(StorePart):
    """The api's calls about single jobs."""

    @calls(
        lambda rows: [with_words(row[0]) for row in rows],
        limit="limit_rows",
        states=lambda states: [int(state) for state in states],
    )
    async def list_jobs(
        self, caller: Caller, batch_id: int, *, after: int, limit: int, states: Sequence[int] = ()
    ) -> Sequence[Row]:
        """Return job documents in order of their numbers above `after`.

        Only those in `states`, if given.
        """

    @calls(
        lambda rows: [entry_of(row) for row in rows], limit="limit_rows", of_job_ids=lambda: None
    )
    async def list_job_entries(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[JobEntry]:
        """Return what short lists show of jobs, in order of their numbers above `after`."""

    @calls(
        lambda rows: ([with_words(item) for item in rows[0]["items"]], rows[0]["next_after"]),
        group_id="of_group_id",
        limit="limit_attempts",
    )
    async def count_reasons(
        self, caller: Caller, batch_id: int, group_id: int, *, after: int, limit: int
    ) -> tuple[Sequence[Row], int | None]:
        """Return why jobs of a group failed, with counts, and the job after which to go on; None:
        that was all. `limit`: how many failed attempts are read.

        Raise `BatchNotFound`, `GroupNotFound`.
        """

    async def get_job(self, caller: Caller, batch_id: int, job_id: int) -> Row:
        """Return the job document with `spec` (a `JobSpec`), `parents` and `times`.

        Raise `JobNotFound`.
        """
        (row,) = await self._database.call(
            "get_job",
            caller=caller,
            batch_id=batch_id,
            job_id=job_id,
            limit_parents=PARENTS_SHOWN,
            limit_counted=PARENTS_COUNTED,
        )
        document = with_words(row["document"])
        document["spec"] = (
            decode_chunk(row["spec_body"])[row["spec_index"]] if row["spec_body"] else None
        )
        limit_ms = document.pop("limit_ms", None)
        if limit_ms is not None and document["spec"] is not None:
            document["spec"] = msgspec.structs.replace(document["spec"], timeout_s=limit_ms / 1000)
        return document

    @calls(lambda rows: [with_words(row[0]) for row in rows])
    async def list_attempts(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return attempt documents, oldest first, the live one included. Raise `JobNotFound`."""

    @calls(lambda rows: [with_words(row[0]) for row in rows])
    async def job_history(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return history documents, oldest first. Raise `JobNotFound`."""

    @calls(records, title="of_title")
    async def list_notes(
        self, caller: Caller, batch_id: int, job_id: int, *, title: str | None
    ) -> Sequence[Row]:
        """Return the notes of a job, newest first, or that with a title; `body` is None of a
        picture, unless it is asked for by its title. Raise `BatchNotFound`, `JobNotFound`.
        """

    @calls(_attempt_logs, "log_places", batch_id="of_batch_id", attempt="of_attempt")
    async def list_attempt_logs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int], attempt: int | None
    ) -> Sequence[AttemptLog]:
        """Return where the output of these jobs is stored, in order of their numbers.

        For this attempt, or for the last one that has started; a job that waits has none (0) yet.
        Jobs that do not exist or have no such attempt are left out.
        """

    @calls(truth, attributes_max=lambda limits: limits.attributes_max, actor=actor)
    async def edit_job(
        self, caller: Caller, batch_id: int, job_id: int, *, patch: Patch, limits: EditLimits
    ) -> bool:
        """Change name, attributes and priority of a job; return whether anything changed.

        Raise `JobNotFound`, `JobEnded` for a new priority of one that has ended, `InvalidValue`
        for too many attributes.
        """

    @calls(lambda rows: {row["job_id"]: row["outcome"] for row in rows}, actor=actor)
    async def hold_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Hold single jobs.

        Return per job `held` or the word of the terminal state it has already. Raise
        `JobNotFound`.
        """

    @calls(lambda rows: {row["job_id"]: row["outcome"] for row in rows}, actor=actor)
    async def release_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Release single jobs.

        Return per job `released`, `held` (by one of its groups) or the word of its terminal state.
        Raise `JobNotFound`.
        """

    @calls(lambda rows: {row["job_id"]: row["outcome"] for row in rows}, actor=actor)
    async def cancel_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Cancel single jobs.

        Return per job `cancelled` (ended now), `cancelling` (its worker is notified) or the word
        of its terminal state. Raise `JobNotFound`.
        """

    @calls(number, actor=actor)
    async def signal_job(
        self, caller: Caller, batch_id: int, job_id: int, *, signal: int, word: str
    ) -> int:
        """Tell the worker of a running job to send it a signal; return the attempt. `word`: the
        name of the signal, for the history. Raise `JobNotFound`, `JobNotRunning` or
        `TooManyCommands`.
        """

    @calls(number, text="message", actor=actor)
    async def message_job(self, caller: Caller, batch_id: int, job_id: int, *, text: str) -> int:
        """Tell the worker of a running job to give it a text; return the attempt. Raise as
        `signal_job`.
        """

    @calls(value, values="answer", actor=actor)
    async def answer_job(
        self,
        caller: Caller,
        batch_id: int,
        job_id: int,
        *,
        approve: bool,
        note: str,
        values: Mapping[str, Any],
    ) -> str:
        """End a job that waits for an approval or an event; return its state. The same answer of
        the same person changes nothing. Raise `JobNotFound` or `NotWaiting`.
        """

    @calls(number, actor=actor)
    async def extend_job(self, caller: Caller, batch_id: int, job_id: int, *, by_ms: int) -> int:
        """Extend the time limit of a job's attempts; return by how many ms in all. Raise
        `JobNotFound` or `JobOver`.
        """

    @calls(truth)
    async def unblock_job(self, caller: Caller, batch_id: int, job_id: int) -> bool:
        """Let the driver make a blocked job ready now, whatever it waits for; return whether it
        was blocked. Raise `JobNotFound`.
        """
