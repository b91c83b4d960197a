"""The declared calls of clients, which ask the server.

Made by `tools/generate_client.py`; do not edit.
"""

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from weft.client.generated import answers
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from weft.client.http.calls import (
    PAGE_ROWS,
    Document,
    DocumentCalls,
    Listing,
    segment,
    without_none,
)
from weft.client.http.session import new_key


class Calls(DocumentCalls):
    """The declared calls of clients, which ask the server."""

    async def acknowledge_dead_message(self, dead_id: int, note: str) -> "answers.DeadMessage":
        """Acknowledge a dead message: it leaves the list, with a note. Only for operators. Raise
        `DeadMessageNotFound`.

        Use case: `weft.api.use_cases.transports.acknowledge_dead_message`.

        Args:
            dead_id: The number of a dead message.
            note: What a person says of it; it stays in the history.
        """
        return cast(
            "answers.DeadMessage",
            await self._post(f"/v1/dead-messages/{dead_id}/acknowledge", {"note": note}),
        )

    async def add_project_member(self, name: str, user: str) -> "answers.ProjectCost":
        """Let a user of the tenant submit batches to a billing project; return it. Raise
        `RightMissing`, `ProjectNotFound`, `UserNotFound`.

        Use case: `weft.api.use_cases.projects.add_member`.

        Args:
            name: The name of a billing project.
            user: The name of a user.
        """
        return cast(
            "answers.ProjectCost",
            await self._put(
                f"/v1/billing-projects/{segment(name, 'billing project')}/members/{segment(user, 'user')}",
                {},
            ),
        )

    async def add_store(
        self,
        name: str,
        url: str,
        *,
        access: str,
        credentials: str = "secret",
        secret: str | None = None,
        endpoint: str | None = None,
        region: str | None = None,
    ) -> "answers.FileStoreAnswer":
        """Set a store, in place of one of the same name. Jobs that start from now on use it. Only
        for operators. Raise `InvalidValue`, `TooManyFileStores`.

        Use case: `weft.api.use_cases.file_stores.save_store`.

        Args:
            name: The name of a store of files.
            url: The bucket, and the beginning of all keys in it.
            access: `write`: jobs leave files there, too.
            credentials: What opens it: a secret, the environment of the worker, or the role of its
                machine; the last two where the setting `store_buckets` allows the bucket.
            secret: The name of a secret of who sets the store; its value is `KEY_ID:SECRET_KEY`,
                or `KEY_ID:SECRET_KEY:SESSION_TOKEN`.
            endpoint: The server, if it is not that of AWS.
            region: The region of the bucket; without it us-east-1.
        """
        return cast(
            "answers.FileStoreAnswer",
            await self._put(
                f"/v1/stores/{segment(name, 'store of files')}",
                without_none(
                    {
                        "url": url,
                        "access": access,
                        "credentials": credentials,
                        "secret": secret,
                        "endpoint": endpoint,
                        "region": region,
                    }
                ),
            ),
        )

    async def add_user(
        self, name: str, *, role: str = "user", trusted: bool = True
    ) -> "answers.UserAdded":
        """Let a user into the tenant, with a role that may do no more than the caller. The text of
        their first token is the answer's `token`, and nowhere else: a repeat with the same key
        makes another one in its place. Raise `RightMissing`, `UserExists`, `JobsNotApart`.

        Use case: `weft.api.use_cases.users.add_user`.

        Args:
            name: Unique in the tenant without regard to case. A removed user of it comes back.
            role: What they may do; none above your own.
            trusted: false: refuse while jobs of all users run as the account of the server, in no
                sandbox, and so could read its files, tokens of others among them.
        """
        return cast(
            "answers.UserAdded",
            await self._post(
                "/v1/users", {"name": name, "role": role, "trusted": trusted}, key=new_key()
            ),
        )

    async def cordon_worker(
        self, name: str, *, reason: str | None = None, pool: str | None = None
    ) -> "answers.ChangedWorker":
        """Let a worker take no new job; what it has goes on. A repeat changes nothing. Return it.
        Raise `RightMissing`, `WorkerEnded`.

        Use case: `weft.api.use_cases.workers.cordon_worker`.

        Args:
            name: The name of a worker.
            reason: Why; shown with the worker.
            pool: The pool, if several have a worker of this name.
        """
        return cast(
            "answers.ChangedWorker",
            await self._post(
                f"/v1/workers/{segment(name, 'worker')}/cordon",
                without_none({"reason": reason}),
                query={"pool": pool},
            ),
        )

    async def count_batch_action(
        self, action: str, q: str | None = None
    ) -> "answers.BatchActionCount":
        """Count what an action would do to the batches that match a query, or to all; nothing is
        done. At most the newest `bulk_batches_max` are counted, and `has_more` tells that there
        are more. Raise `BadQuery`.

        Use case: `weft.api.use_cases.batch_actions.count_batch_action`.

        Args:
            action: In the trail: only this action, an `operationId` or `run_schedule`. Of many
                batches: `hold`, `release`, `retry` or `cancel`.
            q: A query, such as `state = failed and cost > 5`.
        """
        return cast(
            "answers.BatchActionCount",
            await self._get("/v1/batch-actions", query={"action": action, "q": q}),
        )

    async def create_answer_link(
        self, batch_id: int, job_id: int, *, valid_s: float = 86400.0
    ) -> "answers.AnswerLink":
        """Make a link to a page on which whoever has it answers this job, without a login: once.
        It is one of the caller's tokens, until then. Raise `NotWaiting`, `TooManyTokens`.

        Use case: `weft_waits.calls.create_answer_link`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
            valid_s: How long the link counts.
        """
        return cast(
            "answers.AnswerLink",
            await self._post(
                f"/v1/batches/{batch_id}/jobs/{job_id}/answer-links",
                {"valid_s": valid_s},
                key=new_key(),
            ),
        )

    async def create_login_link(self) -> "answers.LoginLink":
        """Make a link that opens a session of the caller in a browser: once, and within five
        minutes. The caller's former link counts no more.

        Use case: `weft.api.use_cases.sessions.create_login_link`.
        """
        return cast("answers.LoginLink", await self._post("/v1/login-links", {}))

    async def create_project(
        self, name: str, *, cost_max: float | None = None
    ) -> "answers.ProjectCost":
        """Create a billing project, with the caller as its first member; return it. Raise
        `RightMissing`, `ProjectExists`.

        Use case: `weft.api.use_cases.projects.create_project`.

        Args:
            name: Unique in the tenant without regard to case.
            cost_max: What it may cost; null: no limit.
        """
        return cast(
            "answers.ProjectCost",
            await self._post(
                "/v1/billing-projects",
                without_none({"name": name, "cost_max": cost_max}),
                key=new_key(),
            ),
        )

    async def create_tenant(
        self, name: str, *, admin: str, trusted: bool = True
    ) -> "answers.TenantCreated":
        """Create a tenant with its first user, who has role `tenant-admin`. The text of their
        token is the answer's `token`, and nowhere else: a repeat with the same key makes
        another one in its place. Raise `RightMissing`, `TenantExists`, `JobsNotApart`.

        Use case: `weft.api.use_cases.tenants.create_tenant`.

        Args:
            name: Unique without regard to case.
            admin: Its first user, a tenant-admin.
            trusted: false: refuse while jobs of all users run as the account of the server, in no
                sandbox, and so could read its files, tokens of others among them.
        """
        return cast(
            "answers.TenantCreated",
            await self._post(
                "/v1/tenants", {"name": name, "admin": admin, "trusted": trusted}, key=new_key()
            ),
        )

    async def create_token(
        self,
        name: str,
        *,
        scopes: Sequence[str] | None = None,
        valid_s: float | None = None,
        pool: str | None = None,
        workers: str | None = None,
        once: bool = False,
    ) -> "answers.TokenCreated":
        """Make a token with all of one's rights, or with some. Its text is the answer's `token`,
        and nowhere else: a repeat with the same key makes another one in its place. It may do
        no more than the token that asks for it, and no longer. Raise `RightMissing`,
        `TooManyTokens`.

        Use case: `weft.api.use_cases.tokens.create_token`.

        Args:
            name: What it is for.
            scopes: The only rights that it has; null: all of yours.
            valid_s: How long it is good; null: until it is revoked.
            pool: It is for workers outside, which join this pool; its scope is `work`.
            workers: The names that these workers may have, with * and ?; null: any.
            once: It is an invitation: a worker of the pool gets a token of its own for it, once,
                and while it is good (a day at most); `weft worker --join` does.
        """
        return cast(
            "answers.TokenCreated",
            await self._post(
                "/v1/tokens",
                without_none(
                    {
                        "name": name,
                        "scopes": scopes,
                        "valid_s": valid_s,
                        "pool": pool,
                        "workers": workers,
                        "once": once,
                    }
                ),
                key=new_key(),
            ),
        )

    async def delete_project(self, name: str) -> None:
        """Delete a closed billing project. Its name stays taken, because bills have it. Raise
        `RightMissing`, `ProjectNotFound`, `ProjectOpen`.

        Use case: `weft.api.use_cases.projects.delete_project`.

        Args:
            name: The name of a billing project.
        """
        await self._remove(f"/v1/billing-projects/{segment(name, 'billing project')}")

    async def delete_schedule(self, schedule_id: int) -> None:
        """Remove a schedule, as its owner or an administrator. Its batches stay.

        Use case: `weft.api.use_cases.schedules.delete_schedule`.

        Args:
            schedule_id: A schedule: 3 or s3.
        """
        await self._remove(f"/v1/schedules/{schedule_id}")

    async def drain_queue(self, name: str) -> "answers.Queue":
        """Let a queue take no more jobs; return it. Those that wait there run on. Only for
        administrators. Raise `QueueNotFound`.

        Use case: `weft.api.use_cases.queues.drain_queue`.

        Args:
            name: The name of a queue.
        """
        return cast(
            "answers.Queue", await self._post(f"/v1/queues/{segment(name, 'queue')}/drain", {})
        )

    async def drain_worker(
        self, name: str, *, reason: str | None = None, pool: str | None = None
    ) -> "answers.ChangedWorker":
        """Let a worker take no new job, and its process end in order when nothing runs; one that
        was lost is deleted at once. A repeat changes nothing. Return it. Raise `RightMissing`,
        `WorkerEnded`.

        Use case: `weft.api.use_cases.workers.drain_worker`.

        Args:
            name: The name of a worker.
            reason: Why; shown with the worker.
            pool: The pool, if several have a worker of this name.
        """
        return cast(
            "answers.ChangedWorker",
            await self._post(
                f"/v1/workers/{segment(name, 'worker')}/drain",
                without_none({"reason": reason}),
                query={"pool": pool},
            ),
        )

    async def fail_condition(self, condition_id: int) -> "answers.ShownCondition":
        """End the jobs of a condition as errors; return it. Only for administrators. Raise
        `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.fail_condition`.

        Args:
            condition_id: A condition: 3 or c3.
        """
        return cast(
            "answers.ShownCondition", await self._post(f"/v1/conditions/{condition_id}/fail", {})
        )

    async def forecast_batch(self, batch_id: int) -> "answers.Forecast":
        """Say about when a batch starts and ends and what it costs, from its own jobs and like
        ones, what stands before it, and its pool; `unknown` says why that is not known. Raise
        `BatchNotFound`.

        Use case: `weft_forecast.calls.forecast_batch`.

        Args:
            batch_id: A batch: 12 or b12.
        """
        return cast("answers.Forecast", await self._get(f"/v1/batches/{batch_id}/forecast"))

    async def forecast_job(self, batch_id: int, job_id: int) -> "answers.Forecast":
        """Say the same of a job. Raise `JobNotFound`.

        Use case: `weft_forecast.calls.forecast_job`.

        Args:
            batch_id: A batch: 12 or b12.
            job_id: A job of the batch: 7 or j7.
        """
        return cast(
            "answers.Forecast", await self._get(f"/v1/batches/{batch_id}/jobs/{job_id}/forecast")
        )

    async def get_app(self, name: str) -> "answers.AppDetail":
        """Return an application with its parameters. Raise `AppNotFound`.

        Use case: `weft_apps.calls.get_app`.

        Args:
            name: The name and version of an application.
        """
        return cast(
            "answers.AppDetail", await self._get(f"/v1/apps/{segment(name, 'application')}")
        )

    async def get_condition(self, condition_id: int) -> "answers.ShownCondition":
        """Return a condition and the first due jobs that you see. Raise `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.get_condition`.

        Args:
            condition_id: A condition: 3 or c3.
        """
        return cast("answers.ShownCondition", await self._get(f"/v1/conditions/{condition_id}"))

    async def get_dead_message(self, dead_id: int) -> "answers.WholeDeadMessage":
        """Return a dead message with what is kept of its `body`, in base64. Only for operators.
        Raise `DeadMessageNotFound`.

        Use case: `weft.api.use_cases.transports.get_dead_message`.

        Args:
            dead_id: The number of a dead message.
        """
        return cast("answers.WholeDeadMessage", await self._get(f"/v1/dead-messages/{dead_id}"))

    async def get_pool(self, name: str) -> "answers.ShownPool":
        """Return a pool with its machines. Raise `PoolNotFound`.

        Use case: `weft.api.use_cases.pools.get_pool`.

        Args:
            name: The name of a pool.
        """
        return cast("answers.ShownPool", await self._get(f"/v1/pools/{segment(name, 'pool')}"))

    async def get_product(self, product_id: int) -> "answers.Product":
        """Return a product and its job, which may be deleted. Raise `ProductNotFound`.

        Use case: `weft.api.use_cases.products.get_product`.

        Args:
            product_id: The number of a product.
        """
        return cast("answers.Product", await self._get(f"/v1/products/{product_id}"))

    async def get_project(self, name: str) -> "answers.ProjectCost":
        """Return what a billing project cost so far, and its members. Raise `ProjectNotFound`.

        Use case: `weft.api.use_cases.projects.get_project`.

        Args:
            name: The name of a billing project.
        """
        return cast(
            "answers.ProjectCost",
            await self._get(f"/v1/billing-projects/{segment(name, 'billing project')}"),
        )

    async def get_queue(self, name: str) -> "answers.Queue":
        """Return a queue. Raise `QueueNotFound`.

        Use case: `weft.api.use_cases.queues.get_queue`.

        Args:
            name: The name of a queue.
        """
        return cast("answers.Queue", await self._get(f"/v1/queues/{segment(name, 'queue')}"))

    async def get_saved_query(self, name: str) -> "answers.SavedQuery":
        """Return one of one's saved queries. Raise `SavedQueryNotFound`.

        Use case: `weft.api.use_cases.saved_queries.get_saved_query`.

        Args:
            name: The name of a saved query.
        """
        return cast(
            "answers.SavedQuery",
            await self._get(f"/v1/saved-queries/{segment(name, 'saved query')}"),
        )

    async def get_schedule(self, schedule_id: int) -> "answers.ShownSchedule":
        """Return a schedule with its newest runs. Only its owner gets the document, with secret
        variables masked. Raise `ScheduleNotFound`.

        Use case: `weft.api.use_cases.schedules.get_schedule`.

        Args:
            schedule_id: A schedule: 3 or s3.
        """
        return cast("answers.ShownSchedule", await self._get(f"/v1/schedules/{schedule_id}"))

    async def get_store(self, name: str) -> "answers.FileStoreAnswer":
        """Return a store. Raise `FileStoreNotFound`.

        Use case: `weft.api.use_cases.file_stores.get_store`.

        Args:
            name: The name of a store of files.
        """
        return cast(
            "answers.FileStoreAnswer",
            await self._get(f"/v1/stores/{segment(name, 'store of files')}"),
        )

    async def get_system(self) -> "answers.System":
        """Return the processes that are connected, the database, what the last audit has found,
        the settings in force, and what of all this is not as it should be: `health, processes,
        programs, database, audit, settings`. Only for administrators of the site. Raise
        `RightMissing`.

        Use case: `weft.api.use_cases.system.get_system`.
        """
        return cast("answers.System", await self._get("/v1/system"))

    async def get_tenant(self, name: str) -> "answers.Tenant":
        """Return a tenant; to somebody who does not administer the site only their own exists.
        Raise `RightMissing`, `TenantNotFound`.

        Use case: `weft.api.use_cases.tenants.get_tenant`.

        Args:
            name: The name of a tenant.
        """
        return cast("answers.Tenant", await self._get(f"/v1/tenants/{segment(name, 'tenant')}"))

    async def get_worker(self, name: str, *, pool: str | None = None) -> "answers.ShownWorker":
        """Return a worker and who changed its state. Raise `WorkerNotFound`, `WorkerAmbiguous`.

        Use case: `weft.api.use_cases.workers.get_worker`.

        Args:
            name: The name of a worker.
            pool: The pool, if several have a worker of this name.
        """
        return cast(
            "answers.ShownWorker",
            await self._get(f"/v1/workers/{segment(name, 'worker')}", query={"pool": pool}),
        )

    async def item_history(self, source: str, *, key: str) -> list["answers.ItemChange"]:
        """Return the dated changes of an item, the oldest first, with the statuses of its jobs.

        Use case: `weft_lines.calls.sources.item_history`.

        Args:
            source: The name of a source.
            key: Only the item of this key.
        """
        return await self._items(
            f"/v1/sources/{segment(source, 'source')}/history", query={"key": key}
        )

    async def line_overview(self) -> "answers.Lines":
        """Get how production lines are: sources with what they found last, sinks with what has not
        arrived, and how many jobs have each status.

        Use case: `weft_lines.calls.lines.get_lines`.
        """
        return cast("answers.Lines", await self._get("/v1/lines"))

    async def list_apps(self) -> list["answers.App"]:
        """Return the applications that the caller may run, by name; operators see all.

        Use case: `weft_apps.calls.list_apps`.
        """
        return await self._items("/v1/apps")

    def list_conditions(self, *, page_rows: int = PAGE_ROWS) -> Listing["answers.Condition"]:
        """Yield what blocked jobs that you see wait for, the oldest first, until it is over.

        Use case: `weft.api.use_cases.conditions.list_conditions`.

        Args:
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/conditions", {}, page_rows=page_rows)

    def list_dead_letters(
        self,
        batch_id: int | None = None,
        *,
        cause: str | None = None,
        reason: str | None = None,
        acknowledged: bool = False,
        page_rows: int = PAGE_ROWS,
    ) -> Listing["answers.DeadLetter"]:
        """List jobs that have failed and are not tried again, of the newest batch first, then by
        cause. `batch`, `cause`, `reason`: only these; `acknowledged=true`: those that a person
        has acknowledged, instead of the others.

        Use case: `weft.api.use_cases.failures.list_dead_letters`.

        Args:
            batch_id: Only of this batch: 12 or b12.
            cause: A cause of failures.
            reason: A reason.
            acknowledged: Those that are acknowledged, instead of the others.
            page_rows: How many are asked for at a time.
        """
        return self._list(
            "/v1/dead-letters",
            {"batch": batch_id, "cause": cause, "reason": reason, "acknowledged": acknowledged},
            page_rows=page_rows,
        )

    def list_dead_messages(
        self, *, acknowledged: bool = False, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.DeadMessage"]:
        """Return the messages of transports that nobody wants, the newest first. `acknowledged`:
        those that a person has acknowledged, instead of the others. Only for operators.

        Use case: `weft.api.use_cases.transports.list_dead_messages`.

        Args:
            acknowledged: Those that are acknowledged, instead of the others.
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/dead-messages", {"acknowledged": acknowledged}, page_rows=page_rows)

    async def list_licences(self) -> list["answers.Licence"]:
        """Return the licences by name, and how many of each are used.

        Use case: `weft.api.use_cases.licences.list_licences`.
        """
        return await self._items("/v1/licences")

    def list_limits(
        self, batch_id: int | None = None, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.UseLimit"]:
        """Return limits, what was used of them, and when they are reached; to somebody who does
        not see the tenant's batches, their own, those of their billing projects and of batches
        that they see. `batch`: only those of this batch, its groups, its billing project and
        its user.

        Use case: `weft.api.use_cases.limits.list_limits`.

        Args:
            batch_id: Only of this batch: 12 or b12.
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/limits", {"batch": batch_id}, page_rows=page_rows)

    async def list_minutes(self) -> list["answers.Minute"]:
        """Return how many jobs waited and ran at the end of each of the last 60 minutes, and how
        many ended in it: `at, n_waiting, n_running, n_succeeded, n_failed, n_cancelled`, oldest
        first. It counts your own batches, or all of the tenant if you may see all of it.

        Use case: `weft.api.use_cases.workers.overview_minutes`.
        """
        return await self._items("/v1/overview/minutes")

    async def list_pool_changes(self, name: str) -> list["answers.PoolChange"]:
        """Return what was decided about a pool, and why, newest first; the newest 1,000 are kept.
        Raise `PoolNotFound`.

        Use case: `weft.api.use_cases.pools.list_pool_changes`.

        Args:
            name: The name of a pool.
        """
        return await self._items(f"/v1/pools/{segment(name, 'pool')}/log")

    async def list_pool_costs(self, name: str) -> list["answers.PoolCost"]:
        """Return what the machines of a pool cost by date (UTC) and flavour, and what of it jobs
        used, newest first; the newest 400 dates. Raise `PoolNotFound`.

        Use case: `weft.api.use_cases.pools.list_pool_costs`.

        Args:
            name: The name of a pool.
        """
        return await self._items(f"/v1/pools/{segment(name, 'pool')}/cost")

    async def list_pools(self) -> list["answers.PoolAnswer"]:
        """Return the pools by name: those of the tenant, and those that all tenants share; what is
        described, and their machines by state.

        Use case: `weft.api.use_cases.pools.list_pools`.
        """
        return await self._items("/v1/pools")

    def list_products(
        self, q: str | None = None, *, page_rows: int = PAGE_ROWS
    ) -> Listing["answers.Product"]:
        """Return products, newest first. `q`: only products that match this query, such as `type =
        FSC and tile = 32TLR`. Raise `BadQuery`, `QueryTooSlow`.

        Use case: `weft.api.use_cases.products.list_products`.

        Args:
            q: A query, such as `state = failed and cost > 5`.
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/products", {"q": q}, page_rows=page_rows)

    async def list_queues(self) -> list["answers.Queue"]:
        """Return the queues in the order in which their guards are asked, with their jobs.

        Use case: `weft.api.use_cases.queues.list_queues`.
        """
        return await self._items("/v1/queues")

    async def list_quotas(self) -> list["answers.Quota"]:
        """Return the quotas of the tenant and of users, with what they have of that: `kind, name,
        jobs, batches, cores, bytes, n_jobs, n_batches, n_cores, n_bytes`; to somebody who does
        not see the tenant's batches, their own.

        Use case: `weft.api.use_cases.quotas.list_quotas`.
        """
        return await self._items("/v1/quotas")

    async def list_saved_queries(self) -> list["answers.SavedQuery"]:
        """Return one's saved queries by name, each with `name`, `query` and `updated_at`.

        Use case: `weft.api.use_cases.saved_queries.list_saved_queries`.
        """
        return await self._items("/v1/saved-queries")

    def list_schedules(self, *, page_rows: int = PAGE_ROWS) -> Listing["answers.Schedule"]:
        """Return the schedules of all users, in the order of their numbers.

        Use case: `weft.api.use_cases.schedules.list_schedules`.

        Args:
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/schedules", {}, page_rows=page_rows)

    async def list_secrets(self) -> list["answers.Secret"]:
        """Return one's secrets by name, without their values.

        Use case: `weft.api.use_cases.secrets.list_secrets`.
        """
        return await self._items("/v1/secrets")

    async def list_sessions(self) -> list["answers.Session"]:
        """Return one's sessions in browsers, the oldest first.

        Use case: `weft.api.use_cases.sessions.list_sessions`.
        """
        return await self._items("/v1/sessions")

    def list_shared_jobs(self, *, page_rows: int = PAGE_ROWS) -> Listing["answers.SharedJob"]:
        """List single jobs that were shared with the caller, those of the newest batches first.

        Use case: `weft.api.use_cases.permissions.list_shared_jobs`.

        Args:
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/shared-jobs", {}, page_rows=page_rows)

    def list_source_items(
        self,
        source: str,
        *,
        state: str | None = None,
        series: str | None = None,
        key: str | None = None,
        page_rows: int = PAGE_ROWS,
    ) -> Listing["answers.SourceItem"]:
        """List what a source has found, the newest first; or only items in one state, of one
        series, or the one of a key.

        Use case: `weft_lines.calls.sources.list_source_items`.

        Args:
            source: The name of a source.
            state: A state; may be repeated.
            series: Only items of this series.
            key: Only the item of this key.
            page_rows: How many are asked for at a time.
        """
        return self._list(
            f"/v1/sources/{segment(source, 'source')}/items",
            {"state": state, "series": series, "key": key},
            page_rows=page_rows,
        )

    async def list_stores(self) -> list["answers.FileStoreAnswer"]:
        """Return the stores of the tenant by name. None shows a credential.

        Use case: `weft.api.use_cases.file_stores.list_stores`.
        """
        return await self._items("/v1/stores")

    def list_tenants(self, *, page_rows: int = PAGE_ROWS) -> Listing["answers.Tenant"]:
        """Return all tenants, in the order of their numbers. For administrators of the site.

        Use case: `weft.api.use_cases.tenants.list_tenants`.

        Args:
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/tenants", {}, page_rows=page_rows)

    async def list_tokens(self) -> list["answers.Token"]:
        """Return one's tokens, the oldest first, also those that have expired.

        Use case: `weft.api.use_cases.tokens.list_tokens`.
        """
        return await self._items("/v1/tokens")

    def list_trail(
        self,
        *,
        user: str | None = None,
        action: str | None = None,
        batch: int | None = None,
        number: int | None = None,
        since: datetime | str | None = None,
        all_tenants: bool = False,
        page_rows: int = PAGE_ROWS,
    ) -> Listing["answers.TrailEntry"]:
        """List changes and refusals until a second ago, newest first. Raise `RightMissing`.

        Use case: `weft.api.use_cases.trail.list_trail`.

        Args:
            user: Only what this user did.
            action: In the trail: only this action, an `operationId` or `run_schedule`. Of many
                batches: `hold`, `release`, `retry` or `cancel`.
            batch: Only of this batch: 12 or b12.
            number: Only the entry with this number.
            since: Only what happened at this time or later, in RFC 3339.
            all_tenants: Those of all tenants, for administrators of the site.
            page_rows: How many are asked for at a time.
        """
        return self._list(
            "/v1/trail",
            {
                "user": user,
                "action": action,
                "batch": batch,
                "number": number,
                "from": since,
                "all_tenants": all_tenants,
            },
            page_rows=page_rows,
        )

    async def list_transports(self) -> list["answers.Transport"]:
        """Return the connections of the tenant by name, and what is under way over each.

        Use case: `weft.api.use_cases.transports.list_transports`.
        """
        return await self._items("/v1/transports")

    def list_users(self, *, page_rows: int = PAGE_ROWS) -> Listing["answers.User"]:
        """Return the users of the tenant, in the order of their numbers. For its administrators.

        Use case: `weft.api.use_cases.users.list_users`.

        Args:
            page_rows: How many are asked for at a time.
        """
        return self._list("/v1/users", {}, page_rows=page_rows)

    async def list_workers(self, *, all_: bool = False) -> list["answers.Worker"]:
        """Return the workers by name; `all`: also those that have ended in order.

        Use case: `weft.api.use_cases.workers.list_workers`.

        Args:
            all_: Also what has ended.
        """
        return await self._items("/v1/workers", query={"all": all_})

    async def lose_worker(self, name: str, *, pool: str | None = None) -> "answers.ChangedWorker":
        """Give up a silent worker whose jobs an engine elsewhere runs: they are lost and run
        again. Whoever asks for it has made sure that nothing of it runs. Raise `RightMissing`,
        `WorkerAtWork`.

        Use case: `weft.api.use_cases.workers.lose_worker`.

        Args:
            name: The name of a worker.
            pool: The pool, if several have a worker of this name.
        """
        return cast(
            "answers.ChangedWorker",
            await self._post(
                f"/v1/workers/{segment(name, 'worker')}/lose", {}, query={"pool": pool}
            ),
        )

    async def release_condition(self, condition_id: int, n: int) -> "answers.ShownCondition":
        """Let jobs of a condition go on without a test; return it. Only for administrators. Raise
        `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.release_condition`.

        Args:
            condition_id: A condition: 3 or c3.
            n: How many jobs go on, those that are due first.
        """
        return cast(
            "answers.ShownCondition",
            await self._post(f"/v1/conditions/{condition_id}/release", {"n": n}, key=new_key()),
        )

    async def remove_app(self, name: str, *, for_user: str | None = None) -> None:
        """Forget an application: no new job gets it. Jobs that have it run on, also again. Only
        for operators. Raise `AppNotFound`.

        Use case: `weft_apps.calls.remove_app`.

        Args:
            name: The name and version of an application.
            for_user: The one that is for this user alone.
        """
        await self._remove(
            f"/v1/apps/{segment(name, 'application')}", query={"for_user": for_user}
        )

    async def remove_dead_message(self, dead_id: int) -> None:
        """Forget a dead message. Only for operators. Raise `DeadMessageNotFound`.

        Use case: `weft.api.use_cases.transports.remove_dead_message`.

        Args:
            dead_id: The number of a dead message.
        """
        await self._remove(f"/v1/dead-messages/{dead_id}")

    async def remove_licence(self, name: str) -> None:
        """Forget a licence; who waits for it waits on. For administrators. Raise
        `LicenceNotFound`.

        Use case: `weft.api.use_cases.licences.remove_licence`.

        Args:
            name: The name of a licence.
        """
        await self._remove(f"/v1/licences/{segment(name, 'licence')}")

    async def remove_product(self, product_id: int) -> None:
        """Forget a product, not what it names. Raise `ProductNotFound`, `PermissionMissing`.

        Use case: `weft.api.use_cases.products.remove_product`.

        Args:
            product_id: The number of a product.
        """
        await self._remove(f"/v1/products/{product_id}")

    async def remove_project_member(self, name: str, user: str) -> "answers.ProjectCost":
        """Let a user submit no more batches to a billing project; return it. Those that they have
        go on. Raise `RightMissing`, `ProjectNotFound`, `UserNotFound`.

        Use case: `weft.api.use_cases.projects.remove_member`.

        Args:
            name: The name of a billing project.
            user: The name of a user.
        """
        return cast(
            "answers.ProjectCost",
            await self._delete(
                f"/v1/billing-projects/{segment(name, 'billing project')}/members/{segment(user, 'user')}"
            ),
        )

    async def remove_saved_query(self, name: str) -> None:
        """Forget one of one's saved queries. Raise `SavedQueryNotFound`.

        Use case: `weft.api.use_cases.saved_queries.remove_saved_query`.

        Args:
            name: The name of a saved query.
        """
        await self._remove(f"/v1/saved-queries/{segment(name, 'saved query')}")

    async def remove_secret(self, name: str) -> None:
        """Forget one of one's secrets: no attempt gets it from now on. Jobs that need it and start
        later end with an error. Raise `SecretNotFound`.

        Use case: `weft.api.use_cases.secrets.remove_secret`.

        Args:
            name: The name of a secret.
        """
        await self._remove(f"/v1/secrets/{segment(name, 'secret')}")

    async def remove_store(self, name: str) -> None:
        """Forget a store. Its objects stay; jobs that name it and start later fail. Only for
        operators. Raise `FileStoreNotFound`.

        Use case: `weft.api.use_cases.file_stores.remove_store`.

        Args:
            name: The name of a store of files.
        """
        await self._remove(f"/v1/stores/{segment(name, 'store of files')}")

    async def remove_user(
        self, name: str, *, cancel_batches: bool | None = None
    ) -> "answers.UserRemoved":
        """Remove a user: their tokens are refused from now on, and their schedules are paused.
        Jobs that they have submitted go on and are billed, or are cancelled: `cancel_batches`
        says which; without it `on_user_removal` of the tenant does. Raise `RightMissing`,
        `UserNotFound`, `LastAdministrator`.

        Use case: `weft.api.use_cases.users.remove_user`.

        Args:
            name: The name of a user.
            cancel_batches: Cancel what they have submitted, or not; without it, what the tenant
                says.
        """
        return cast(
            "answers.UserRemoved",
            await self._delete(
                f"/v1/users/{segment(name, 'user')}", query={"cancel_batches": cancel_batches}
            ),
        )

    async def rerun_series(
        self, source: str, series: str, since: str | float
    ) -> "answers.SeriesRerunning":
        """Let items of a series run again from a date on, one after another, as its owner or an
        operator. What they left before stays; each gets another job. Raise `SourceNotFound`,
        `SourceOfAnother`.

        Use case: `weft_lines.calls.sources.rerun_series`.

        Args:
            source: The name of a source.
            series: The key of the series.
            since: Those that stand there or later: a date or a number, as the items have it. A
                date without a zone is in UTC.
        """
        return cast(
            "answers.SeriesRerunning",
            await self._post(
                f"/v1/sources/{segment(source, 'source')}/rerun",
                {"series": series, "from": since},
                key=new_key(),
            ),
        )

    async def resend_dead_message(self, dead_id: int) -> "answers.DeadMessage":
        """Put a dead message into its queue again; the driver does, and forgets it then. Only for
        operators. Raise `DeadMessageNotFound`, `DeadMessageFinal`.

        Use case: `weft.api.use_cases.transports.resend_dead_message`.

        Args:
            dead_id: The number of a dead message.
        """
        return cast(
            "answers.DeadMessage", await self._post(f"/v1/dead-messages/{dead_id}/resend", {})
        )

    async def revoke_token(self, token_id: int) -> None:
        """Revoke one of one's tokens: every api refuses it from now on. Raise `TokenNotFound`;
        `RightMissing` for any other than itself, if the one that asks has scopes.

        Use case: `weft.api.use_cases.tokens.revoke_token`.

        Args:
            token_id: The number of a token.
        """
        await self._remove(f"/v1/tokens/{token_id}")

    async def rotate_secrets(self) -> "answers.SecretsRotated":
        """Encrypt all secrets of all tenants with the first key, so that others can go; return
        `n_rotated` and the `key`. Only for administrators of the site. Raise `RightMissing`,
        and `SecretKeyMissing` if one was encrypted with a key that is not here; those before it
        are done.

        Use case: `weft.api.use_cases.secrets.rotate_secrets`.
        """
        return cast("answers.SecretsRotated", await self._post("/v1/secret-rotation", {}))

    async def save_pools(
        self, pools: Sequence[Document], *, dry_run: bool = False
    ) -> "answers.PoolsSaved":
        """Make these the pools that are described; return what changes. Others keep their workers;
        a pool with machines has to stay described. Only for administrators.

        Use case: `weft.api.use_cases.pools.save_pools`.

        Args:
            pools: At least those that shall stay described.
            dry_run: Only return what would change.
        """
        return cast(
            "answers.PoolsSaved",
            await self._put("/v1/pools", {"pools": pools, "dry_run": dry_run}),
        )

    async def save_query(self, name: str, query: str) -> "answers.SavedQuery":
        """Give a query for batches a name, in place of one of the same name. Raise `BadQuery`,
        `TooManySavedQueries`.

        Use case: `weft.api.use_cases.saved_queries.save_query`.

        Args:
            name: The name of a saved query.
            query: A query for batches.
        """
        return cast(
            "answers.SavedQuery",
            await self._put(f"/v1/saved-queries/{segment(name, 'saved query')}", {"query": query}),
        )

    async def save_queues(
        self, queues: Sequence[Document], *, dry_run: bool = False
    ) -> "answers.QueuesSaved":
        """Make these the queues of the tenant, beside `default`; return what changes. Waiting jobs
        stay where they are; a queue that has some is not deleted. Only for administrators.
        Raise `QueueHasJobs`.

        Use case: `weft.api.use_cases.queues.save_queues`.

        Args:
            queues: At least those that shall stay.
            dry_run: Only return what would change.
        """
        return cast(
            "answers.QueuesSaved",
            await self._put("/v1/queues", {"queues": queues, "dry_run": dry_run}),
        )

    async def set_licence(self, name: str, n: int) -> "answers.Licence":
        """Set how many licences jobs may use at a time, in all pools together; return it. Jobs
        that have one go on if there are fewer now. Only for administrators. Raise
        `BadLicenceName`.

        Use case: `weft.api.use_cases.licences.set_licence`.

        Args:
            name: The name of a licence.
            n: What jobs may have at a time, in all pools together.
        """
        return cast(
            "answers.Licence",
            await self._put(f"/v1/licences/{segment(name, 'licence')}", {"n": n}),
        )

    async def set_tenant_quota(self, tenant: str, changes: Document) -> "answers.Quota":
        """Change how much all users of a tenant together may have at a time; return it. For
        administrators of the site. Raise `RightMissing`, `TenantNotFound`.

        Use case: `weft.api.use_cases.quotas.set_tenant_quota`.

        Args:
            tenant: The name of a tenant.
            changes: A `QuotaEdit`.
        """
        return cast(
            "answers.Quota",
            await self._patch(f"/v1/tenants/{segment(tenant, 'tenant')}/quota", changes),
        )

    async def set_user_role(self, name: str, role: str) -> "answers.User":
        """Give a user another role, on every api from now on; return the user. Raise
        `RightMissing`, `UserNotFound`, `LastAdministrator`.

        Use case: `weft.api.use_cases.users.set_user_role`.

        Args:
            name: The name of a user.
            role: What they may do from now on; none above your own.
        """
        return cast(
            "answers.User", await self._patch(f"/v1/users/{segment(name, 'user')}", {"role": role})
        )

    async def set_user_weight(
        self, name: str, weight: int, *, until: datetime | str | None = None
    ) -> "answers.User":
        """Give a user another weight in the fair shares of all pools, for good or until a date;
        return the user. For administrators of the site, as others get less. Raise
        `UserNotFound`.

        Use case: `weft.api.use_cases.users.set_user_weight`.

        Args:
            name: The name of a user.
            weight: Of two users with work, one with 3 gets three times as much as one with 1.
            until: Then it is 1 again (RFC 3339); null: it stays.
        """
        return cast(
            "answers.User",
            await self._put(
                f"/v1/users/{segment(name, 'user')}/weight",
                without_none({"weight": weight, "until": until}),
            ),
        )

    async def test_condition(self, condition_id: int) -> "answers.ShownCondition":
        """Let a condition be tested now, instead of at its next date; return it. If the test
        passes, its jobs go on, few at first. Raise `ConditionNotFound`.

        Use case: `weft.api.use_cases.conditions.test_condition`.

        Args:
            condition_id: A condition: 3 or c3.
        """
        return cast(
            "answers.ShownCondition", await self._post(f"/v1/conditions/{condition_id}/test", {})
        )

    async def test_queues(self, document: Document) -> "answers.QueuesTested":
        """Return which queue would take each job of a batch now, and why the queues before it
        would not. Nothing is created.

        Use case: `weft.api.use_cases.queues.test_queues`.

        Args:
            document: A `BatchDocument`.
        """
        return cast("answers.QueuesTested", await self._post("/v1/queue-test", document))

    async def test_store(self, name: str) -> "answers.FileStoreTried":
        """Try a store as a job would, from the api's host: write, read and remove a small object;
        in one that is only read, ask for an object. What does not work is in the answer. Only
        for operators. Raise `FileStoreNotFound`.

        Use case: `weft.api.use_cases.file_stores.try_store`.

        Args:
            name: The name of a store of files.
        """
        return cast(
            "answers.FileStoreTried",
            await self._post(f"/v1/stores/{segment(name, 'store of files')}/trial", {}),
        )

    async def uncordon_worker(
        self, name: str, *, pool: str | None = None
    ) -> "answers.ChangedWorker":
        """Let a worker take jobs again, also one that drains. A repeat changes nothing. Return it.
        Raise `RightMissing`, `WorkerEnded`.

        Use case: `weft.api.use_cases.workers.uncordon_worker`.

        Args:
            name: The name of a worker.
            pool: The pool, if several have a worker of this name.
        """
        return cast(
            "answers.ChangedWorker",
            await self._post(
                f"/v1/workers/{segment(name, 'worker')}/uncordon", {}, query={"pool": pool}
            ),
        )

    async def whoami(self) -> "answers.Whoami":
        """Return the caller and what the token allows: `user`, `role`, `rights`, `token_id`.

        Use case: `weft.api.use_cases.tokens.whoami`.
        """
        return cast("answers.Whoami", await self._get("/v1/whoami"))


CallsT_co = TypeVar("CallsT_co", bound=Calls, covariant=True)
