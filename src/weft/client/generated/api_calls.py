"""The declared calls that `Api` alone has: clients have objects for what they answer.

Made by `tools/generate_client.py`; do not edit.
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec import UNSET, UnsetType

from weft.client.http.calls import PAGE_ROWS, DocumentCalls, segment, without_unset
from weft.client.http.listing import Document, Listing


class ApiCalls(DocumentCalls):
    """The declared calls that `Api` alone has: clients have objects for what they answer."""

    async def attempt_usage(self, batch_id: int, job_id: int, attempt: int) -> Document:
        """Return samples of the CPU time and memory of an attempt, also while it runs, oldest
        first: `at_ms, cpu_ms, memory_bytes`. They get rarer as it gets older: at most 1,000 are
        kept, with its output. Raise `AttemptNotFound`, `OutputElsewhere`.

        Use case: `weft.api.use_cases.attempt_usage.get_attempt_usage`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            attempt: An attempt of the job, from 1 on.
        """
        return await self._get(f"/v1/batches/{batch_id}/jobs/{job_id}/attempts/{attempt}/usage")

    async def cancel_operation(self, operation_id: int) -> Document:
        """End an operation on many batches before it has reached all of them; return it. What it
        has done stays done. Other operations go on to their end: 409. Raise
        `OperationNotFound`, `OperationNotCancellable`.

        Use case: `weft.api.use_cases.operations.cancel_operation`.

        Args:
            operation_id: The number of an operation.
        """
        return await self._post(f"/v1/operations/{operation_id}/cancel", {})

    async def change_project(self, name: str, changes: Document) -> Document:
        """Close or reopen a billing project, or change its limit; return it. A closed one takes no
        new batches and schedules; the batches that it has go on. Raise `ProjectNotFound`,
        `SoftLimitAboveLimit`.

        Use case: `weft.api.use_cases.projects.change_project`.

        Args:
            name: The name of a billing project.
            changes: A `ProjectEdit`.
        """
        return await self._patch(
            f"/v1/billing-projects/{segment(name, 'billing project')}", changes
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
    ) -> Document:
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
        return await self._patch(
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
        )

    async def get_operation(self, operation_id: int) -> Document:
        """Return the state and the progress of an operation. Raise `OperationNotFound`.

        Use case: `weft.api.use_cases.operations.get_operation`.

        Args:
            operation_id: The number of an operation.
        """
        return await self._get(f"/v1/operations/{operation_id}")

    async def get_parameter(self, name: str) -> Document:
        """Return the value of a parameter, with its version. Raise `ParameterNotFound`.

        Use case: `weft.api.use_cases.parameters.get_parameter`.

        Args:
            name: The name of a parameter of production lines.
        """
        return await self._get(f"/v1/parameters/{segment(name, 'parameter of production lines')}")

    def list_job_permissions(
        self, batch_id: int, job_id: int, *, page_rows: int = PAGE_ROWS
    ) -> Listing:
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

    def list_operations(
        self, *, batch_id: int | None = None, page_rows: int = PAGE_ROWS
    ) -> Listing:
        """Return operations, newest first; `batch`: only operations of this batch.

        Use case: `weft.api.use_cases.operations.list_operations`.

        Args:
            batch_id: Only of this batch: 12 or b12.
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/operations", {"batch": batch_id}, page_rows=page_rows)

    def list_parameters(
        self, as_of: datetime | str | None = None, *, page_rows: int = PAGE_ROWS
    ) -> Listing:
        """Return the parameters of production lines in the order of their names, as they are, or
        as they were at a date.

        Use case: `weft.api.use_cases.parameters.list_parameters`.

        Args:
            as_of: As it was at this time, in RFC 3339.
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/parameters", {"as_of": as_of}, page_rows=page_rows)

    def list_permissions(self, batch_id: int, *, page_rows: int = PAGE_ROWS) -> Listing:
        """Return the users with whom a batch is shared, in the order of their numbers. Its owner
        and the members of its billing project may do everything and are not in the list.

        Use case: `weft.api.use_cases.permissions.list_permissions`.

        Args:
            batch_id: A batch: 12 or b12.
            page_rows: How many are asked for at a time.
        """
        return self._list(f"/v1/batches/{batch_id}/permissions", {}, page_rows=page_rows)

    async def list_projects(self) -> list[Document]:
        """Return the billing projects that the caller is a member of by name, with what they cost
        so far; to somebody who manages the tenant, all of it.

        Use case: `weft.api.use_cases.projects.list_projects`.
        """
        return await self._items("/v1/billing-projects")

    async def list_rates(self) -> list[Document]:
        """Return all prices, newest first. An attempt keeps the prices at its claim.

        Use case: `weft.api.use_cases.projects.list_rates`.
        """
        return await self._items("/v1/rates")

    def list_versions(self, name: str, *, page_rows: int = PAGE_ROWS) -> Listing:
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

    async def overview(self) -> Document:
        """Return the workers and how many jobs wait and run.

        Use case: `weft.api.use_cases.workers.overview`.
        """
        return await self._get("/v1/overview")

    async def set_parameter(
        self,
        name: str,
        value: str | int | float | bool | Sequence[str | int | float | bool],
        *,
        type: str | UnsetType = UNSET,
    ) -> Document:
        """Give a parameter a value from now on; return it. Items that get their jobs afterwards
        are configured by it; the same value again changes nothing. Only for operators.

        Use case: `weft.api.use_cases.parameters.set_parameter`.

        Args:
            name: The name of a parameter of production lines.
            value: A text, a number, true or false, a date as text, or a list of these.
            type: Of one that is new; without it, as the value is.
        """
        return await self._put(
            f"/v1/parameters/{segment(name, 'parameter of production lines')}",
            without_unset({"value": value, "type": type}),
        )

    async def set_tenant(self, name: str, changes: Document) -> Document:
        """Change what holds in a tenant; return it. For somebody who does not administer the site
        only their own exists. Raise `TenantNotFound`.

        Use case: `weft.api.use_cases.tenants.set_tenant`.

        Args:
            name: The name of a tenant.
            changes: A `TenantEdit`.
        """
        return await self._patch(f"/v1/tenants/{segment(name, 'tenant')}", changes)

    async def share_batch(self, batch_id: int, user: str, permission: str) -> Document:
        """Share a batch with a user of the tenant, or let them do more or less than before. Raise
        `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.share_batch`.

        Args:
            batch_id: A batch: 12 or b12.
            user: The name of a user.
            permission: `read`: see it; `execute`: also cancel, hold, release and retry its jobs;
                `write`: also edit it, add jobs, hide and delete it; `all`: also share it.
        """
        return await self._put(
            f"/v1/batches/{batch_id}/permissions/{segment(user, 'user')}",
            {"permission": permission},
        )

    async def share_job(self, batch_id: int, job_id: int, user: str, permission: str) -> Document:
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
        return await self._put(
            f"/v1/batches/{batch_id}/jobs/{job_id}/permissions/{segment(user, 'user')}",
            {"permission": permission},
        )

    async def unshare_batch(self, batch_id: int, user: str) -> Document:
        """Share a batch with a user no longer. What they may do as its owner or as a member of its
        billing project stays. Raise `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.unshare_batch`.

        Args:
            batch_id: A batch: 12 or b12.
            user: The name of a user.
        """
        return await self._delete(f"/v1/batches/{batch_id}/permissions/{segment(user, 'user')}")

    async def unshare_job(self, batch_id: int, job_id: int, user: str) -> Document:
        """Share one job with a user no longer. What they may do with its batch stays. Raise
        `UserNotFound`.

        Use case: `weft.api.use_cases.permissions.unshare_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            user: The name of a user.
        """
        return await self._delete(
            f"/v1/batches/{batch_id}/jobs/{job_id}/permissions/{segment(user, 'user')}"
        )
