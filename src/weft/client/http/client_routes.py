"""Calls that are written by hand, and that clients and `Api` have alike."""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from weft.client.answer import Answer
from weft.client.http.calls import (
    PAGE_ROWS,
    Document,
    DocumentCalls,
    Listing,
    group_segment,
    segment,
)
from weft.client.http.session import new_key
from weft.core.bounded import read_json, read_toml
from weft.core.errors import Invalid
from weft.wire.payload import PART_BYTES


class AppFolderUnreadable(Invalid, code="CLIENT.APP_FOLDER_UNREADABLE"):
    """A folder cannot be packed."""


def name_of_app(folder: Path) -> str:
    """Return the name and version that a folder says. Raise `AppFolderUnreadable`."""
    for file, load in (("app.json", read_json), ("app.toml", read_toml)):
        try:
            found = load((folder / file).read_text())
            return f"{found['name']}-{found['version']}"
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AppFolderUnreadable(
                f"{folder / file} says no name and version",
                detail=f"{type(error).__name__}: {error}.",
                hint="The guide on applications says what it holds.",
            ) from error
    raise AppFolderUnreadable(
        f"the folder {folder} is no application",
        detail="It has neither app.json nor app.toml.",
        hint="The guide on applications says what it holds.",
    )


BatchSort = Literal["number", "name", "created", "completed"]


class ClientRoutes(DocumentCalls):
    """What clients ask as `Api` does."""

    async def add_app(self, folder: Path | str, *, for_user: str | None = None) -> Answer:
        """Make a folder with `app.json` or `app.toml` an application, `for_user`: of theirs
        alone. The same content changes nothing: then `changed` is false. Only for operators. Raise
        `InvalidApp`, `AppFolderUnreadable`.
        """
        import hashlib  # noqa: PLC0415

        from weft.wire.app_folder import BadFolder, pack  # noqa: PLC0415 (who adds none needs it not)

        name = name_of_app(Path(folder))
        try:
            packed = pack(Path(folder))
        except (OSError, BadFolder) as error:
            raise AppFolderUnreadable(
                f"the folder {folder} cannot be packed",
                detail=f"{error}.",
                hint="A folder of an application holds files and directories that you may read.",
            ) from error
        digest = hashlib.sha256(packed).hexdigest()
        await self._send_parts(f"/v1/app-parts/{digest}", packed)
        document = {"digest": digest, "n_bytes": len(packed), "for_user": for_user}
        return await self._put(f"/v1/apps/{quote(name, safe='')}", document)

    async def send_payload(self, batch_id: int, digest: str, data: bytes) -> None:
        """Send large arguments or code, part by part, ahead of the job that names them by their
        SHA-256. A repeat does nothing. Raise `PayloadTooLarge`.
        """
        await self._send_parts(f"/v1/batches/{batch_id}/payloads/{digest}", data)

    async def _send_parts(self, path: str, data: bytes) -> None:
        for start in range(0, len(data), PART_BYTES):
            await self._session.request(
                "PUT",
                f"{path}/{start // PART_BYTES + 1}?bytes={len(data)}",
                body=data[start : start + PART_BYTES],
                content_type="application/octet-stream",
            )

    async def end_sessions(self, session_id: int | None = None) -> int:
        """Log out one session, or everywhere; return how many have ended. Raise
        `SessionNotFound`, `RightMissing`.
        """
        path = "/v1/sessions" if session_id is None else f"/v1/sessions/{session_id}"
        return int((await self._delete(path))["n_ended"])

    async def list_shares(self, pool: str) -> list[Answer]:
        """Return the users with work in a pool, who is served next first: `user, weight, n_ready,
        ready_cpu, running_cpu, fair_cpu`, the last as if the cores in use were shared fairly.
        Users who do not see the tenant get their own. Raise `PoolNotFound`.
        """
        return await self._items(f"/v1/pools/{segment(pool, 'pool')}/shares")

    async def set_secret(self, name: str, value: str) -> Answer:
        """Keep a secret for one's jobs, encrypted, in place of one of the same name; return it
        without its value. Raise `TooManySecrets`, `SecretKeyMissing`.
        """
        return await self._put(f"/v1/secrets/{segment(name, 'secret')}", {"value": value})

    async def reroute_queues(
        self, *, queue: str | None = None, to: str | None = None, dry_run: bool = False
    ) -> list[Answer]:
        """Move jobs that wait, and have never run, to the queues that guards choose now; return
        how many moved from which queue to which.

        Jobs that name their queue stay, unless `to` is given. Only for administrators.

        Args:
            queue: Only jobs of this queue.
            to: Move them to this queue, whatever its guard says.
            dry_run: Only count.
        """
        counts: Counter[tuple[str, str]] = Counter()
        cursor: str | None = None
        while True:
            wanted = {"queue": queue, "to": to, "dry_run": dry_run, "cursor": cursor}
            page = await self._post("/v1/queue-reroute", wanted)
            for one in page["moves"]:
                counts[one["queue"], one["to"]] += one["n_jobs"]
            cursor = page["cursor"]
            if cursor is None:
                return [
                    Answer(queue=now, to=to, n_jobs=count) for (now, to), count in counts.items()
                ]

    def list_batches(
        self,
        q: str | None = None,
        *,
        name: str | None = None,
        hidden: bool = False,
        sort: BatchSort | None = None,
        reverse: bool = False,
        page_rows: int = PAGE_ROWS,
    ) -> Listing[Answer]:
        """Yield batch documents, newest first: all, or those that a query finds.

        Args:
            q: A query.
            name: Only those of exactly this name.
            hidden: Also hidden ones.
            sort: `number`, `created` or `completed`, from the newest, or `name`, from A on. By
                `name` only those that have one, by `completed` only those that are complete.
            reverse: The other way round.
            page_rows: How many are asked for at a time.
        """
        order = {"sort": sort, "reverse": reverse or None}
        query = {"q": q, "name": name, "hidden": hidden or None, "limit": page_rows}
        return self._list("/v1/batches", {**query, **order})

    async def add_schedule(
        self,
        cron: str,
        document: Document,
        *,
        time_zone: str = "UTC",
        missed: str = "skip",
        name: str | None = None,
        key: str | None = None,
    ) -> Answer:
        """Submit a batch document at the times of a cron expression; return the schedule.

        Raise `InvalidCron`, `UnknownTimeZone`, `TooManySchedules`, and what a submission of the
        document would raise.

        Args:
            cron: Minute, hour, day of the month, month and day of the week.
            document: A batch document.
            time_zone: A name of the IANA database, whose clock decides.
            missed: Which of the runs that were missed while weft was down are made up for: `skip`,
                `last` or `all`.
            name: For people; without it that of the batch.
            key: Calls with the same one add one schedule.
        """
        wanted = {"cron": cron, "time_zone": time_zone, "missed": missed, "name": name}
        return await self._post(
            "/v1/schedules", {**wanted, "document": document}, key=key or new_key()
        )

    async def import_jobs(
        self, door: str, jobs: Sequence[Document], *, check: bool = False
    ) -> Answer:
        """Take over jobs that have ended in another system, as `weft import` does; return how many
        there are of each, `n_new, n_known`. To repeat it is safe. If one job is wrong, none is
        taken over. For administrators of the tenant. Raise `InvalidValue`, `RightMissing`.

        Args:
            door: The door that will show them, by its name.
            jobs: `{"id": …, "user": …, "name": …, "created_at": …, "document": {…}}`, the document
                in the words of the door.
            check: Only look at them, and change nothing.
        """
        from weft.wire.documents.imports import IMPORTED_MAX  # noqa: PLC0415 (5 ms)

        pages = [jobs[at : at + IMPORTED_MAX] for at in range(0, len(jobs), IMPORTED_MAX)]
        counts = dict.fromkeys(("n_new", "n_known"), 0)
        for checks in (True,) if check else (True, False):
            for page in pages:
                asked = {"door": door, "jobs": page, "check": checks}
                told = await self._post("/v1/imports", asked)
                counts = {name: n + told[name] for name, n in counts.items()}
        return Answer(counts)

    async def billing_report(
        self,
        by: str = "project",
        *,
        project: str | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> Answer:
        """Return what billing projects cost, by `project`, `user`, `day`, `resource` or
        `attribute=KEY` of their batches; costs are exact decimals, as texts. `since`, `until`:
        only usage on these dates (UTC) and between them. Raise `ProjectNotFound`,
        `ReportTooLarge`.
        """
        days = [None if day is None else day.isoformat() for day in (since, until)]
        query = {"by": by, "project": project, "first_day": days[0], "last_day": days[1]}
        return await self._get("/v1/billing/report", query)

    async def set_quota(self, user: str | None, changes: Document) -> Answer:
        """Change how many `jobs` and `batches` that have not ended, `cores` of running jobs and
        stored `bytes` a user may have, or each user (None): `{"jobs": 100, "cores": None}`; None
        lifts a limit. Raise `RightMissing`, `UserNotFound`.
        """
        path = "/v1/user-quota" if user is None else f"/v1/users/{segment(user, 'user')}/quota"
        return await self._patch(path, changes)

    async def set_limit(
        self,
        changes: Document,
        *,
        project: str | None = None,
        user: str | None = None,
        batch_id: int | None = None,
        group: int | str | None = None,
    ) -> Answer:
        """Limit what a billing project, a user, a batch or one of its groups uses:
        `{"measure": "cpu", "amount_max": 1000}`, with any of `amount_max`, `amount_soft_max` (None
        lifts them) and `on_limit`, in money (`cost`, the default) or in hours of `cpu`, `memory`,
        `storage` or `gpu`. Raise `RightMissing`, `ProjectNotFound`, `UserNotFound`,
        `BatchNotFound`, `GroupNotFound`, `SoftLimitAboveLimit`.
        """
        if project is not None:
            path = f"/v1/billing-projects/{segment(project, 'billing project')}"
        elif user is not None:
            path = f"/v1/users/{segment(user, 'user')}"
        else:
            path = f"/v1/batches/{batch_id}"
            path += "" if group is None else f"/groups/{group_segment(group)}"
        return await self._patch(f"{path}/limit", changes)
