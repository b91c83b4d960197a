"""The declared calls that `Api` alone has: clients have objects for what they answer.

Made by `tools/generate_client.py`; do not edit.
"""

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from weft.client.generated import answers
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import UNSET, UnsetType

from weft.client.answer import Answer
from weft.client.http.calls import (
    PAGE_ROWS,
    Document,
    DocumentCalls,
    Listing,
    group_segment,
    segment,
    without_none,
    without_unset,
)
from weft.client.http.session import new_key


class ApiCalls(DocumentCalls):
    """The declared calls that `Api` alone has: clients have objects for what they answer."""

    async def add_groups(
        self,
        batch_id: int,
        update_id: int,
        first: int,
        groups: Sequence[Document],
        *,
        key: str | None = None,
    ) -> "answers.GroupsAdded":
        """Add a bunch of groups. A repeat does nothing.

        Use case: `weft.submission.submit.add_groups`.

        Args:
            batch_id: A batch: 12 or b12.
            update_id: An update of the batch: 3 or u3.
            first: Number of the first group in the update.
            groups: Groups, parents before their children.
            key: Calls with the same one do it once.
        """
        return cast(
            "answers.GroupsAdded",
            await self._post(
                f"/v1/batches/{batch_id}/updates/{update_id}/groups",
                {"first": first, "groups": groups},
                key=key or new_key(),
            ),
        )

    async def add_members(
        self, batch_id: int, group: int | str, jobs: Sequence[int]
    ) -> "answers.MembersAdded":
        """Put jobs of the batch into a set: all of the request or none. A repeat adds nothing.

        Use case: `weft.api.use_cases.sets.add_members`.

        Args:
            batch_id: A batch: 12 or b12.
            group: A group: its number 3 or g3, its path with each slash as %2F, or the name of a
                set.
            jobs: Their numbers.
        """
        return cast(
            "answers.MembersAdded",
            await self._post(
                f"/v1/batches/{batch_id}/groups/{group_segment(group)}/members", {"jobs": jobs}
            ),
        )

    async def answer_job(
        self,
        batch_id: int,
        job_id: int,
        *,
        approve: bool = True,
        values: Mapping[str, Any] | None = None,
        note: str = "",
    ) -> "answers.JobAnswered":
        """Answer a job that waits for an approval or an event: it succeeds, or fails with the
        note. Values must fit its form. Raise `NotWaiting`.

        Use case: `weft_waits.calls.answer_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            approve: False: the job fails.
            values: What its form asks for.
            note: For its history.
        """
        return cast(
            "answers.JobAnswered",
            await self._post(
                f"/v1/batches/{batch_id}/jobs/{job_id}/answer",
                without_none({"approve": approve, "values": values, "note": note}),
            ),
        )

    async def attempt_usage(
        self, batch_id: int, job_id: int, attempt: int
    ) -> "answers.AttemptUsage":
        """Return samples of the CPU time and memory of an attempt, also while it runs, oldest
        first: `at_ms, cpu_ms, memory_bytes`. They get rarer as it gets older: at most 1,000 are
        kept, with its output. Raise `AttemptNotFound`, `OutputElsewhere`.

        Use case: `weft.api.use_cases.output.get_attempt_usage`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            attempt: An attempt of the job, from 1 on.
        """
        return cast(
            "answers.AttemptUsage",
            await self._get(f"/v1/batches/{batch_id}/jobs/{job_id}/attempts/{attempt}/usage"),
        )

    def batch_history(
        self, batch_id: int, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.Change"]:
        """Return what people changed of a batch, newest first.

        Use case: `weft.api.use_cases.read.batch_history`.

        Args:
            batch_id: A batch: 12 or b12.
            page_rows: How many are asked for at a time.
        """
        return self._list(f"/v1/batches/{batch_id}/history", {}, page_rows=page_rows)

    async def begin_batch_action(
        self,
        action: str,
        *,
        query: str | None = None,
        batches: Sequence[int] | None = None,
        key: str | None = None,
    ) -> Answer:
        """Cancel, retry, hold or release batches, one after the other: those of a list, of which
        none may be anybody's whom the caller may not change, or all that match a query, but for
        batches that are created later. The reply is the operation that does so. Each batch is
        treated as by a request of its own at that moment. `result` counts what was done so far:
        `n_changed`; `n_idle`: there was nothing to do; `n_skipped`: the caller may not do it,
        for example, and `skipped` says by the code of the error how often.

        Use case: `weft.api.use_cases.batch_actions.begin_batch_action`.

        Args:
            action: What is done to each of them.
            query: A query for batches; an empty one: all.
            batches: Their numbers, instead of a query.
            key: Calls with the same one do it once.
        """
        return await self._post(
            "/v1/batch-actions",
            without_none({"action": action, "query": query, "batches": batches}),
            key=key or new_key(),
        )

    async def cancel_batch(self, batch_id: int, *, force: bool = False) -> "answers.Cancelled":
        """Cancel all jobs of a batch that have not ended.

        Use case: `weft.api.use_cases.batches.cancel_batch`.

        Args:
            batch_id: A batch: 12 or b12.
            force: Cancel jobs with `always_run`, too.
        """
        return cast(
            "answers.Cancelled",
            await self._post(f"/v1/batches/{batch_id}/cancel", {"force": force}),
        )

    async def cancel_group(
        self, batch_id: int, group: int | str, *, force: bool = False
    ) -> "answers.Cancelled":
        """Cancel all jobs of a group, and of groups below it, that have not ended.

        Use case: `weft.api.use_cases.groups.cancel_group`.

        Args:
            batch_id: A batch: 12 or b12.
            group: A group: its number 3 or g3, its path with each slash as %2F, or the name of a
                set.
            force: Cancel jobs with `always_run`, too.
        """
        return cast(
            "answers.Cancelled",
            await self._post(
                f"/v1/batches/{batch_id}/groups/{group_segment(group)}/cancel", {"force": force}
            ),
        )

    async def cancel_operation(self, operation_id: int) -> "answers.Operation":
        """End an operation on many batches before it has reached all of them; return it. What it
        has done stays done. Other operations go on to their end: 409. Raise
        `OperationNotFound`, `OperationNotCancellable`.

        Use case: `weft.api.use_cases.operations.cancel_operation`.

        Args:
            operation_id: The number of an operation.
        """
        return cast(
            "answers.Operation", await self._post(f"/v1/operations/{operation_id}/cancel", {})
        )

    async def change_project(self, name: str, changes: Document) -> "answers.ProjectCost":
        """Close or reopen a billing project, or change its limit; return it. A closed one takes no
        new batches and schedules; the batches that it has go on. Raise `ProjectNotFound`,
        `SoftLimitAboveLimit`.

        Use case: `weft.api.use_cases.projects.change_project`.

        Args:
            name: The name of a billing project.
            changes: A `ProjectEdit`.
        """
        return cast(
            "answers.ProjectCost",
            await self._patch(f"/v1/billing-projects/{segment(name, 'billing project')}", changes),
        )

    async def change_schedule(
        self,
        schedule_id: int,
        *,
        cron: str | UnsetType = UNSET,
        time_zone: str | UnsetType = UNSET,
        missed: str | UnsetType = UNSET,
        name: str | UnsetType | None = UNSET,
        paused: bool | UnsetType = UNSET,
    ) -> "answers.ShownSchedule":
        """Change, pause or resume a schedule, as its owner or an administrator; return it. A
        resumed one goes on at its next time from now.

        Use case: `weft.api.use_cases.schedules.change_schedule`.

        Args:
            schedule_id: A schedule: 3 or s3.
            cron: Minute, hour, day of the month, month and day of the week, as cron reads them.
            time_zone: Of the IANA database; its clock decides.
            missed: Which of the runs that were missed while weft was down are made up for: none,
                the last one, or all up to the setting `schedule_missed_max`.
            name: null: it has none.
            paused: Whether it is paused. What would be due meanwhile is not missed.
        """
        return cast(
            "answers.ShownSchedule",
            await self._patch(
                f"/v1/schedules/{schedule_id}",
                without_unset(
                    {
                        "cron": cron,
                        "time_zone": time_zone,
                        "missed": missed,
                        "name": name,
                        "paused": paused,
                    }
                ),
            ),
        )

    async def change_source(
        self,
        name: str,
        *,
        paused: bool | UnsetType = UNSET,
        replay_since: datetime | str | UnsetType = UNSET,
        replay_item: str | UnsetType = UNSET,
        key: str | None = None,
    ) -> "answers.ShownSource":
        """Pause, resume or replay a source, as its owner or an operator.

        Use case: `weft_lines.calls.sources.change_source`.

        Args:
            name: The name of a source.
            paused: Whether it is paused: not read, and its items get no jobs.
            replay_since: What it found since then becomes jobs once more, and it is read again
                from the beginning.
            replay_item: The item of this key becomes a job once more.
            key: Calls with the same one do it once.
        """
        return cast(
            "answers.ShownSource",
            await self._patch(
                f"/v1/sources/{segment(name, 'source')}",
                without_unset(
                    {"paused": paused, "replay_since": replay_since, "replay_item": replay_item}
                ),
                key=key or new_key(),
            ),
        )

    async def change_status(
        self,
        batch_id: int,
        job_id: int,
        status: str,
        *,
        message: str | None = None,
        key: str | None = None,
    ) -> "answers.JobStatus":
        """Set a job's status, if its lifecycle allows it; one that waits or has ended goes along.

        Use case: `weft_lines.calls.lines.change_status`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            status: A status of its lifecycle.
            message: Why, for its history.
            key: Calls with the same one do it once.
        """
        return cast(
            "answers.JobStatus",
            await self._post(
                f"/v1/batches/{batch_id}/jobs/{job_id}/status",
                without_none({"status": status, "message": message}),
                key=key or new_key(),
            ),
        )

    async def commit_update(self, batch_id: int, update_id: int) -> "answers.Update":
        """Make all jobs of an update visible and runnable. A repeat gets the same answer.

        Use case: `weft.submission.submit.commit_update`.

        Args:
            batch_id: A batch: 12 or b12.
            update_id: An update of the batch: 3 or u3.
        """
        return cast(
            "answers.Update",
            await self._post(f"/v1/batches/{batch_id}/updates/{update_id}/commit", {}),
        )

    async def decide_message(
        self, sink: str, delivery_id: int, decision: str
    ) -> "answers.Message":
        """Send a message that a check has stopped, or drop it; or drop one that was given up.

        Use case: `weft_lines.calls.sinks.decide_message`.

        Args:
            sink: The name of a sink.
            delivery_id: The number of a message of a sink.
            decision: `pass`: it is sent all the same. `drop`: it is never sent.
        """
        return cast(
            "answers.Message",
            await self._post(
                f"/v1/sinks/{segment(sink, 'sink')}/deliveries/{delivery_id}/decide",
                {"decision": decision},
            ),
        )

    async def delete_batch(self, batch_id: int, *, key: str | None = None) -> Answer:
        """Delete a batch with everything that belongs to it. It is gone at once and its running
        jobs are stopped; the answer is the operation that removes its rows.

        Use case: `weft.api.use_cases.batches.delete_batch`.

        Args:
            batch_id: A batch: 12 or b12.
            key: Calls with the same one do it once.
        """
        return await self._delete(f"/v1/batches/{batch_id}", key=key or new_key())

    async def edit_batch(self, batch_id: int, document: Document) -> "answers.Batch":
        """Change the name and attributes of a batch by a JSON merge patch: null removes. With
        `priority` the answer is 202 and the operation that changes the jobs that have not
        ended.

        Use case: `weft.api.use_cases.edit.edit_batch`.

        Args:
            batch_id: A batch: 12 or b12.
            document: A `EditDocument`.
        """
        return cast("answers.Batch", await self._patch(f"/v1/batches/{batch_id}", document))

    async def edit_group(
        self, batch_id: int, group: int | str, document: Document
    ) -> "answers.Group":
        """Change the name and attributes of a group by a JSON merge patch: null removes. A new
        name changes the paths of the groups below, too. With `priority` the answer is 202 and
        the operation that changes the jobs of the group, and of groups below it, that have not
        ended.

        Use case: `weft.api.use_cases.edit.edit_group`.

        Args:
            batch_id: A batch: 12 or b12.
            group: A group: its number 3 or g3, its path with each slash as %2F, or the name of a
                set.
            document: A `EditDocument`.
        """
        return cast(
            "answers.Group",
            await self._patch(f"/v1/batches/{batch_id}/groups/{group_segment(group)}", document),
        )

    async def edit_job(
        self, batch_id: int, job_id: int, document: Document
    ) -> "answers.JobDetail":
        """Change the name, attributes and priority of a job by a JSON merge patch: null removes.
        The priority of an ended job cannot change; that of a running job applies to its next
        attempt.

        Use case: `weft.api.use_cases.edit.edit_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            document: A `EditDocument`.
        """
        return cast(
            "answers.JobDetail",
            await self._patch(f"/v1/batches/{batch_id}/jobs/{job_id}", document),
        )

    async def extend_job(
        self, batch_id: int, job_id: int, by_s: float, *, key: str | None = None
    ) -> "answers.JobExtended":
        """Extend the time limit of a job, of its running attempt and of those that follow. Raise
        `NoTimeLimit` if it has none, `JobOver` if it has ended.

        Use case: `weft.api.use_cases.command.extend_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            by_s: How much longer each attempt may run.
            key: Calls with the same one do it once.
        """
        return cast(
            "answers.JobExtended",
            await self._post(
                f"/v1/batches/{batch_id}/jobs/{job_id}/extend",
                {"by_s": by_s},
                key=key or new_key(),
            ),
        )

    async def get_batch(self, batch_id: int) -> "answers.Batch":
        """Return the state, counts and cost of a batch. Raise `BatchNotFound`.

        Use case: `weft.api.use_cases.read.get_batch`.

        Args:
            batch_id: A batch: 12 or b12.
        """
        return cast("answers.Batch", await self._get(f"/v1/batches/{batch_id}"))

    async def get_group(self, batch_id: int, group: int | str) -> "answers.Group":
        """Return the state, counts and cost of a group. Raise `GroupNotFound`.

        Use case: `weft.api.use_cases.read.get_group`.

        Args:
            batch_id: A batch: 12 or b12.
            group: A group: its number 3 or g3, its path with each slash as %2F, or the name of a
                set.
        """
        return cast(
            "answers.Group",
            await self._get(f"/v1/batches/{batch_id}/groups/{group_segment(group)}"),
        )

    async def get_job(self, batch_id: int, job_id: int) -> "answers.JobDetail":
        """Return one job with its `spec`, its first `parents`, of which there are `n_parents`, and
        its `times`; `n_parents` null: more than 1,000. Raise `JobNotFound`.

        Use case: `weft.api.use_cases.read.get_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
        """
        return cast("answers.JobDetail", await self._get(f"/v1/batches/{batch_id}/jobs/{job_id}"))

    async def get_lifecycle(self, name: str) -> "answers.Lifecycle":
        """Get the lifecycle that new batches get by this name.

        Use case: `weft_lines.calls.lines.get_lifecycle`.

        Args:
            name: The name of a lifecycle.
        """
        return cast(
            "answers.Lifecycle", await self._get(f"/v1/lifecycles/{segment(name, 'lifecycle')}")
        )

    async def get_operation(self, operation_id: int) -> "answers.Operation":
        """Return the state and the progress of an operation. Raise `OperationNotFound`.

        Use case: `weft.api.use_cases.operations.get_operation`.

        Args:
            operation_id: The number of an operation.
        """
        return cast("answers.Operation", await self._get(f"/v1/operations/{operation_id}"))

    async def get_parameter(self, name: str) -> "answers.LineParameter":
        """Return the value of a parameter, with its version. Raise `ParameterNotFound`.

        Use case: `weft.api.use_cases.parameters.get_parameter`.

        Args:
            name: The name of a parameter of production lines.
        """
        return cast(
            "answers.LineParameter",
            await self._get(f"/v1/parameters/{segment(name, 'parameter of production lines')}"),
        )

    async def get_setup(self, name: str) -> "answers.Setup":
        """Get the file of a production line, as it came.

        Use case: `weft_lines.calls.lines.get_setup`.

        Args:
            name: The name of a line.
        """
        return cast("answers.Setup", await self._get(f"/v1/setups/{segment(name, 'line')}"))

    async def get_source(self, name: str) -> "answers.ShownSource":
        """Get a source.

        Use case: `weft_lines.calls.sources.get_source`.

        Args:
            name: The name of a source.
        """
        return cast(
            "answers.ShownSource", await self._get(f"/v1/sources/{segment(name, 'source')}")
        )

    async def get_timeline(self, batch_id: int) -> "answers.Timeline":
        """Get the time axis of a batch: how many jobs waited, started, ran or were blocked, in 120
        stretches of time, and what each worker ran. Of a batch of more than 2,000 jobs it is an
        estimate from 2,000 of them, spread evenly over their numbers.

        Use case: `weft.api.use_cases.pictures.get_timeline`.

        Args:
            batch_id: A batch: 12 or b12.
        """
        return cast("answers.Timeline", await self._get(f"/v1/batches/{batch_id}/timeline"))

    def group_history(
        self, batch_id: int, group: int | str, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.Change"]:
        """Return what people changed of a group, newest first; group 0 is the batch.

        Use case: `weft.api.use_cases.read.group_history`.

        Args:
            batch_id: A batch: 12 or b12.
            group: A group: its number 3 or g3, its path with each slash as %2F, or the name of a
                set.
            page_rows: How many are asked for at a time.
        """
        return self._list(
            f"/v1/batches/{batch_id}/groups/{group_segment(group)}/history",
            {},
            page_rows=page_rows,
        )

    async def hide_batch(self, batch_id: int) -> "answers.HiddenChanged":
        """Hide a batch: lists of batches leave it out unless they ask for hidden ones. Its jobs go
        on, and whoever names it finds it.

        Use case: `weft.api.use_cases.batches.hide_batch`.

        Args:
            batch_id: A batch: 12 or b12.
        """
        return cast("answers.HiddenChanged", await self._post(f"/v1/batches/{batch_id}/hide", {}))

    async def hold_batch(self, batch_id: int) -> "answers.HoldChanged":
        """Hold a batch: nothing of it starts until it is released; running jobs go on.

        Use case: `weft.api.use_cases.batches.hold_batch`.

        Args:
            batch_id: A batch: 12 or b12.
        """
        return cast("answers.HoldChanged", await self._post(f"/v1/batches/{batch_id}/hold", {}))

    async def hold_group(self, batch_id: int, group: int | str) -> "answers.HoldChanged":
        """Hold a group with those below it: nothing of it starts until it is released.

        Use case: `weft.api.use_cases.groups.hold_group`.

        Args:
            batch_id: A batch: 12 or b12.
            group: A group: its number 3 or g3, its path with each slash as %2F, or the name of a
                set.
        """
        return cast(
            "answers.HoldChanged",
            await self._post(f"/v1/batches/{batch_id}/groups/{group_segment(group)}/hold", {}),
        )

    async def hold_job(self, batch_id: int, job_id: int) -> "answers.JobHoldChanged":
        """Hold one job: it does not start until it is released.

        Use case: `weft.api.use_cases.jobs.hold_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
        """
        return cast(
            "answers.JobHoldChanged",
            await self._post(f"/v1/batches/{batch_id}/jobs/{job_id}/hold", {}),
        )

    async def job_history(self, batch_id: int, job_id: int) -> list["answers.HistoryEntry"]:
        """Return the dated changes of a job, oldest first.

        Use case: `weft.api.use_cases.read.job_history`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
        """
        return await self._items(f"/v1/batches/{batch_id}/jobs/{job_id}/history")

    async def list_attempts(self, batch_id: int, job_id: int) -> list["answers.Attempt"]:
        """Return the attempts of a job, oldest first, those that run, or were lost, included.

        Use case: `weft.api.use_cases.read.list_attempts`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
        """
        return await self._items(f"/v1/batches/{batch_id}/jobs/{job_id}/attempts")

    def list_callbacks(
        self, batch_id: int, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.Delivery"]:
        """Return the callbacks of a batch and its groups in the order of the completions, each
        with the state of its delivery.

        Use case: `weft.api.use_cases.callbacks.list_callbacks`.

        Args:
            batch_id: A batch: 12 or b12.
            page_rows: How many are asked for at a time.
        """
        return self._list(f"/v1/batches/{batch_id}/callbacks", {}, page_rows=page_rows)

    async def list_causes(
        self, batch_id: int, *, all_: bool = False, limit: int | None = None
    ) -> "answers.Failures":
        """List why jobs of a batch failed for good, the most frequent causes first. `all`: also
        causes of which all jobs are acknowledged.

        Use case: `weft.api.use_cases.failures.list_causes`.

        Args:
            batch_id: A batch: 12 or b12.
            all_: Also what has ended.
            limit: Rows of a page.
        """
        return cast(
            "answers.Failures",
            await self._get(
                f"/v1/batches/{batch_id}/failures", query={"all": all_, "limit": limit}
            ),
        )

    def list_children(
        self, batch_id: int, job_id: int, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.Job"]:
        """Return the jobs that depend directly on a job, in order of their numbers.

        Use case: `weft.api.use_cases.read.list_children`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            page_rows: How many are asked for at a time.
        """
        return self._list(
            f"/v1/batches/{batch_id}/jobs/{job_id}/children", {}, page_rows=page_rows
        )

    def list_files(
        self, batch_id: int, job_id: int, *, attempt: int | None = None, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.JobFile"]:
        """List the files that an attempt of a job has left, by path; without `attempt`, those of
        the last one that left any. While it runs and nothing is kept, what its directory has at
        the moment, where the server can see it. Raise `JobNotFound`, `FileElsewhere`.

        Use case: `weft.api.use_cases.files.list_files`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            attempt: An attempt; without it the last one.
            page_rows: How many are asked for at a time.
        """
        return self._list(
            f"/v1/batches/{batch_id}/jobs/{job_id}/files",
            {"attempt": attempt},
            page_rows=page_rows,
        )

    def list_groups(
        self, batch_id: int, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.Group"]:
        """Return the groups of a batch in order of their numbers, beginning with the root.

        Use case: `weft.api.use_cases.read.list_groups`.

        Args:
            batch_id: A batch: 12 or b12.
            page_rows: How many are asked for at a time.
        """
        return self._list(f"/v1/batches/{batch_id}/groups", {}, page_rows=page_rows)

    def list_job_permissions(
        self, batch_id: int, job_id: int, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.SharedJobWith"]:
        """Return the users with whom one job is shared, in the order of their numbers. Those who
        see its batch are not in the list.

        Use case: `weft.api.use_cases.permissions.list_job_permissions`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            page_rows: How many are asked for at a time.
        """
        return self._list(
            f"/v1/batches/{batch_id}/jobs/{job_id}/permissions", {}, page_rows=page_rows
        )

    def list_messages(
        self, sink: str, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.Message"]:
        """List the messages of a sink, the oldest first, each with the state of its delivery.

        Use case: `weft_lines.calls.sinks.list_messages`.

        Args:
            sink: The name of a sink.
            page_rows: How many are asked for at a time.
        """
        return self._list(f"/v1/sinks/{segment(sink, 'sink')}/deliveries", {}, page_rows=page_rows)

    async def list_notes(self, batch_id: int, job_id: int) -> list["answers.JobNote"]:
        """List what a job says about itself, newest first: Markdown, texts, tables as CSV and
        links, and which pictures there are. Raise `JobNotFound`.

        Use case: `weft.api.use_cases.files.list_notes`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
        """
        return await self._items(f"/v1/batches/{batch_id}/jobs/{job_id}/notes")

    def list_operations(
        self, *, batch_id: int | None = None, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.Operation"]:
        """Return operations, newest first; `batch`: only operations of this batch.

        Use case: `weft.api.use_cases.operations.list_operations`.

        Args:
            batch_id: Only of this batch: 12 or b12.
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/operations", {"batch": batch_id}, page_rows=page_rows)

    def list_parameters(
        self, as_of: datetime | str | None = None, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.LineParameter"]:
        """Return the parameters of production lines in the order of their names, as they are, or
        as they were at a date.

        Use case: `weft.api.use_cases.parameters.list_parameters`.

        Args:
            as_of: As it was at this time, in RFC 3339.
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/parameters", {"as_of": as_of}, page_rows=page_rows)

    def list_parents(
        self, batch_id: int, job_id: int, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.Job"]:
        """Return the jobs that a job depends on directly, in order of their numbers.

        Use case: `weft.api.use_cases.read.list_parents`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            page_rows: How many are asked for at a time.
        """
        return self._list(f"/v1/batches/{batch_id}/jobs/{job_id}/parents", {}, page_rows=page_rows)

    def list_permissions(
        self, batch_id: int, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.SharedWith"]:
        """Return the users with whom a batch is shared, in the order of their numbers. Its owner
        and the members of its billing project may do everything and are not in the list.

        Use case: `weft.api.use_cases.permissions.list_permissions`.

        Args:
            batch_id: A batch: 12 or b12.
            page_rows: How many are asked for at a time.
        """
        return self._list(f"/v1/batches/{batch_id}/permissions", {}, page_rows=page_rows)

    async def list_projects(self) -> list["answers.ProjectCost"]:
        """Return the billing projects that the caller is a member of by name, with what they cost
        so far; to somebody who manages the tenant, all of it.

        Use case: `weft.api.use_cases.projects.list_projects`.
        """
        return await self._items("/v1/billing-projects")

    async def list_rates(self) -> list["answers.RateCard"]:
        """Return all prices, newest first. An attempt keeps the prices at its claim.

        Use case: `weft.api.use_cases.rates.list_rates`.
        """
        return await self._items("/v1/rates")

    def list_sources(self, *, page_rows: int = PAGE_ROWS) -> Listing["answers.Source"]:
        """List the sources, in the order of their names.

        Use case: `weft_lines.calls.sources.list_sources`.

        Args:
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/sources", {}, page_rows=page_rows)

    def list_versions(
        self, name: str, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.LineParameter"]:
        """Return the versions of a parameter, the newest first. Raise `ParameterNotFound`.

        Use case: `weft.api.use_cases.parameters.list_versions`.

        Args:
            name: The name of a parameter of production lines.
            page_rows: How many are asked for at a time.
        """
        return self._list(
            f"/v1/parameters/{segment(name, 'parameter of production lines')}/history",
            {},
            page_rows=page_rows,
        )

    async def message_job(
        self, batch_id: int, job_id: int, text: str, *, key: str | None = None
    ) -> "answers.JobMessaged":
        """Send a text to a running job, which finds it in a new file in `$WEFT_MESSAGES`; its
        history says when it was delivered. Raise `JobNotRunning`.

        Use case: `weft.api.use_cases.command.message_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            text: What the job finds in a new file in its directory `$WEFT_MESSAGES`.
            key: Calls with the same one do it once.
        """
        return cast(
            "answers.JobMessaged",
            await self._post(
                f"/v1/batches/{batch_id}/jobs/{job_id}/message",
                {"text": text},
                key=key or new_key(),
            ),
        )

    async def overview(self) -> "answers.Overview":
        """Return the workers and how many jobs wait and run.

        Use case: `weft.api.use_cases.workers.overview`.
        """
        return cast("answers.Overview", await self._get("/v1/overview"))

    async def redeliver_message(self, sink: str, delivery_id: int) -> "answers.Message":
        """Try to send a message again now, also one that was given up. A repeat does nothing while
        that is under way.

        Use case: `weft_lines.calls.sinks.redeliver_message`.

        Args:
            sink: The name of a sink.
            delivery_id: The number of a message of a sink.
        """
        return cast(
            "answers.Message",
            await self._post(
                f"/v1/sinks/{segment(sink, 'sink')}/deliveries/{delivery_id}/redeliver", {}
            ),
        )

    async def release_batch(self, batch_id: int) -> "answers.HoldChanged":
        """Release a batch: its jobs may start, except those that another hold covers.

        Use case: `weft.api.use_cases.batches.release_batch`.

        Args:
            batch_id: A batch: 12 or b12.
        """
        return cast("answers.HoldChanged", await self._post(f"/v1/batches/{batch_id}/release", {}))

    async def release_group(self, batch_id: int, group: int | str) -> "answers.HoldChanged":
        """Release a group: its jobs may start, except those that another hold covers.

        Use case: `weft.api.use_cases.groups.release_group`.

        Args:
            batch_id: A batch: 12 or b12.
            group: A group: its number 3 or g3, its path with each slash as %2F, or the name of a
                set.
        """
        return cast(
            "answers.HoldChanged",
            await self._post(f"/v1/batches/{batch_id}/groups/{group_segment(group)}/release", {}),
        )

    async def release_job(self, batch_id: int, job_id: int) -> "answers.JobHoldChanged":
        """Release one job; it waits on while a group of it is held.

        Use case: `weft.api.use_cases.jobs.release_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
        """
        return cast(
            "answers.JobHoldChanged",
            await self._post(f"/v1/batches/{batch_id}/jobs/{job_id}/release", {}),
        )

    async def remove_setup(self, name: str) -> None:
        """Forget the file of a production line. Its jobs go on.

        Use case: `weft_lines.calls.lines.remove_setup`.

        Args:
            name: The name of a line.
        """
        await self._remove(f"/v1/setups/{segment(name, 'line')}")

    async def resubmit_batch(
        self, batch_id: int, document: Document, *, key: str | None = None
    ) -> Answer:
        """Make a new batch from the jobs of a batch: from all, from one `job`, or with `failed`
        from those that failed and those that were cancelled because of them. Parents that
        succeeded, and those of a `job` however they ended, count as done. The answer is the
        operation that does so; when it has succeeded, the new batch is `result.batch_id`, and
        before that nobody sees it. Repeated with the same key, the request makes no second
        batch. Raise `Forbidden` unless the caller owns the batch.

        Use case: `weft.api.use_cases.retry.resubmit_batch`.

        Args:
            batch_id: A batch: 12 or b12.
            document: A `ResubmitDocument`.
            key: Calls with the same one do it once.
        """
        return await self._post(f"/v1/batches/{batch_id}/resubmit", document, key=key or new_key())

    async def retry_batch(
        self,
        batch_id: int,
        q: str | None = None,
        *,
        jobs: Sequence[int] | None = None,
        group: int | str | None = None,
        cause: str | None = None,
        key: str | None = None,
    ) -> Answer:
        """Run failed jobs of a batch again, each with all its tries, and the jobs that were
        cancelled because of them. The reply is the operation that does so; `result.n_retried`
        counts the jobs. Attempts stay in the history and on the bill. The batch is complete
        once more when they end. `q`: only failed jobs that match this query; `group`: only
        those of this group; `cause`: only those that failed for this cause. `result.n_late`
        counts jobs that are left out because they can no longer end by their deadline.

        Use case: `weft.api.use_cases.retry.retry_batch`.

        Args:
            batch_id: A batch: 12 or b12.
            jobs: Their numbers. They run again also if a person cancelled them.
            q: A query, such as `state = failed and cost > 5`.
            group: A group: its number, its path or the name of a set.
            cause: A cause of failures.
            key: Calls with the same one do it once.
        """
        return await self._post(
            f"/v1/batches/{batch_id}/retry",
            without_none({"jobs": jobs}),
            query={"q": q, "group": group, "cause": cause},
            key=key or new_key(),
        )

    async def run_schedule(
        self, schedule_id: int, *, key: str | None = None
    ) -> "answers.ScheduleStarted":
        """Submit the batch of a schedule now, paused or not, beside its due times; its owner only.

        Use case: `weft.api.use_cases.schedules.run_now`.

        Args:
            schedule_id: A schedule: 3 or s3.
            key: Calls with the same one do it once.
        """
        return cast(
            "answers.ScheduleStarted",
            await self._post(f"/v1/schedules/{schedule_id}/run-now", {}, key=key or new_key()),
        )

    async def set_parameter(
        self,
        name: str,
        value: str | float | bool | Sequence[str | int | float | bool],
        *,
        type: str | UnsetType = UNSET,
    ) -> "answers.LineParameter":
        """Give a parameter a value from now on; return it. Items that get their jobs afterwards
        are configured by it; the same value again changes nothing. Only for operators.

        Use case: `weft.api.use_cases.parameters.set_parameter`.

        Args:
            name: The name of a parameter of production lines.
            value: A text, a number, true or false, a date as text, or a list of these.
            type: Of one that is new; without it, as the value is.
        """
        return cast(
            "answers.LineParameter",
            await self._put(
                f"/v1/parameters/{segment(name, 'parameter of production lines')}",
                without_unset({"value": value, "type": type}),
            ),
        )

    async def set_tenant(self, name: str, changes: Document) -> "answers.Tenant":
        """Change what holds in a tenant; return it. For somebody who does not administer the site
        only their own exists. Raise `TenantNotFound`.

        Use case: `weft.api.use_cases.tenants.set_tenant`.

        Args:
            name: The name of a tenant.
            changes: A `TenantEdit`.
        """
        return cast(
            "answers.Tenant", await self._patch(f"/v1/tenants/{segment(name, 'tenant')}", changes)
        )

    async def settle_given_up(
        self, sink: str, decision: str, *, dry_run: bool = False
    ) -> "answers.GivenUpSettled":
        """Send given-up messages again, or drop them: 10,000 at most; also of a removed sink.

        Use case: `weft_lines.calls.sinks.settle_given_up`.

        Args:
            sink: The name of a sink.
            decision: `send`: they are tried again at once. `drop`: they are counted no more.
            dry_run: Only count.
        """
        return cast(
            "answers.GivenUpSettled",
            await self._post(
                f"/v1/sinks/{segment(sink, 'sink')}/given-up",
                {"decision": decision, "dry_run": dry_run},
            ),
        )

    async def share_batch(self, batch_id: int, user: str, permission: str) -> "answers.SharedWith":
        """Share a batch with a user of the tenant, or change what they may. Raise `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.share_batch`.

        Args:
            batch_id: A batch: 12 or b12.
            user: The name of a user.
            permission: `read`: see it; `execute`: also cancel, hold, release and retry its jobs;
                `write`: also edit it, add jobs, hide and delete it; `all`: also share it.
        """
        return cast(
            "answers.SharedWith",
            await self._put(
                f"/v1/batches/{batch_id}/permissions/{segment(user, 'user')}",
                {"permission": permission},
            ),
        )

    async def share_job(
        self, batch_id: int, job_id: int, user: str, permission: str
    ) -> "answers.SharedJobWith":
        """Share one job with a user of the tenant, or let them do more or less than before. They
        see nothing of its batch and the other jobs. Raise `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.share_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            user: The name of a user.
            permission: `read`: see it; `execute`: also cancel, hold, release and retry its jobs;
                `write`: also edit it, add jobs, hide and delete it; `all`: also share it.
        """
        return cast(
            "answers.SharedJobWith",
            await self._put(
                f"/v1/batches/{batch_id}/jobs/{job_id}/permissions/{segment(user, 'user')}",
                {"permission": permission},
            ),
        )

    async def signal_job(
        self, batch_id: int, job_id: int, signal: str | int, *, key: str | None = None
    ) -> "answers.JobSignalled":
        """Send a signal to the first process of a running job; its history says when it was
        delivered. Raise `JobNotRunning`.

        Use case: `weft.api.use_cases.command.signal_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            signal: Name or number of a signal. KILL is refused, because a cancel ends a job; so is
                0.
            key: Calls with the same one do it once.
        """
        return cast(
            "answers.JobSignalled",
            await self._post(
                f"/v1/batches/{batch_id}/jobs/{job_id}/signal",
                {"signal": signal},
                key=key or new_key(),
            ),
        )

    async def test_setup(
        self,
        name: str,
        document: str,
        *,
        read: bool = True,
        item: Mapping[str, Any] | None = None,
        product: Mapping[str, Any] | None = None,
    ) -> "answers.SetupTried":
        """Check the file of a production line: what it would change, and, of an item of each
        source, the job and the messages that would be made. Nothing is kept or sent. Raise
        `InvalidSetup`.

        Use case: `weft_lines.calls.setup_trial.try_setup`.

        Args:
            name: The name of a line.
            document: The file, in TOML.
            read: Whether its sources are read, to show the job and messages of an item.
            item: The fields of an item, with its `key`, instead of what a source reads.
            product: A product of the job, for messages that are made of some.
        """
        return cast(
            "answers.SetupTried",
            await self._post(
                f"/v1/setups/{segment(name, 'line')}/trial",
                without_none(
                    {"document": document, "read": read, "item": item, "product": product}
                ),
            ),
        )

    async def test_source(self, name: str) -> "answers.SourceTried":
        """Read a source once from the api's host, as its owner or an operator: what it gives, and
        the jobs that would be made of it. Nothing is kept.

        Use case: `weft_lines.calls.source_trial.try_source`.

        Args:
            name: The name of a source.
        """
        return cast(
            "answers.SourceTried",
            await self._post(f"/v1/sources/{segment(name, 'source')}/trial", {}),
        )

    async def unhide_batch(self, batch_id: int) -> "answers.HiddenChanged":
        """Show a hidden batch in lists again.

        Use case: `weft.api.use_cases.batches.unhide_batch`.

        Args:
            batch_id: A batch: 12 or b12.
        """
        return cast(
            "answers.HiddenChanged", await self._post(f"/v1/batches/{batch_id}/unhide", {})
        )

    async def unshare_batch(self, batch_id: int, user: str) -> "answers.SharedWith":
        """Share a batch with a user no longer. What they may do as its owner or as a member of its
        billing project stays. Raise `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.unshare_batch`.

        Args:
            batch_id: A batch: 12 or b12.
            user: The name of a user.
        """
        return cast(
            "answers.SharedWith",
            await self._delete(f"/v1/batches/{batch_id}/permissions/{segment(user, 'user')}"),
        )

    async def unshare_job(self, batch_id: int, job_id: int, user: str) -> "answers.SharedJobWith":
        """Stop sharing one job with a user; its batch stays shared. Raise `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.unshare_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            user: The name of a user.
        """
        return cast(
            "answers.SharedJobWith",
            await self._delete(
                f"/v1/batches/{batch_id}/jobs/{job_id}/permissions/{segment(user, 'user')}"
            ),
        )

    async def why_job(self, batch_id: int, job_id: int) -> "answers.JobWhy":
        """Say why a job waits: all causes, what is first to change first, each with the command
        that changes it. Of a job that runs or has ended, say where and since when it runs, or
        how it ended. Raise `JobNotFound`.

        Use case: `weft.api.use_cases.why.why_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
        """
        return cast("answers.JobWhy", await self._get(f"/v1/batches/{batch_id}/jobs/{job_id}/why"))
