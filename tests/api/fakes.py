"""Small doubles for tests that need no database: what is refused must not reach the store."""

# ruff: noqa: ARG002 (a double has the signature of what it stands for)

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx

from weft.api.app import Application
from weft.core.errors import BatchNotFound, GroupNotFound, Unavailable
from weft.ports.store import (
    Action,
    Caller,
    FailedLogin,
    JobRows,
    LoginOwner,
    NewBatch,
    NewGroup,
    Reserved,
    Row,
)
from weft.store import ApiStore

TOKEN = "a-good-token"
OFFERS = {"storage_mib": 10_240, "gpu": 0, "executor": ["process", "function"]}
WORKER = {"cpu_m": 2000, "memory_mib": 4096, "offers": OFFERS}


class RecordingStore(ApiStore):
    """Knows one token and one batch; writes down what it is asked to create."""

    def __init__(self) -> None:
        self.created: list[tuple[NewBatch | int, Sequence[NewGroup], JobRows | None]] = []
        self.bunches: list[JobRows] = []
        self.workers: list[Row] = [WORKER]
        self.workers_asked = 0
        self.authenticated = 0
        self.away = False
        self.refused: list[Action] = []
        self.failed_logins: list[FailedLogin] = []

    async def ready(self) -> None:
        if self.away:
            raise Unavailable("the database does not answer", hint="Wait.")

    async def authenticate(self, token: str) -> Caller | None:
        self.authenticated += 1
        return Caller(1, 1, "somebody") if token == TOKEN else None

    async def tenant_name(self, caller: Caller) -> str:
        return f"tenant {caller.tenant_id}"

    async def record_request(self, action: Action) -> None:
        self.refused.append(action)

    async def login_owner(self, digest: bytes) -> LoginOwner | None:
        return None

    async def record_failed_login(self, failed: FailedLogin) -> None:
        self.failed_logins.append(failed)

    async def pool_offers(self) -> Sequence[Row]:
        self.workers_asked += 1
        return [{"serves_tenant_id": None, **one} for one in self.workers]

    async def licence_limits(self) -> Mapping[str, int]:
        return {}

    async def list_queues(self, caller: Caller, **_: object) -> Sequence[Row]:
        return [{"name": "default", "pools": ["default"]}]

    async def create_batch(self, caller: Caller, new: NewBatch, *_: object) -> tuple[int, bool]:
        self.created.append((new, [], None))
        return len(self.created), True

    async def submit(
        self,
        caller: Caller,
        new: NewBatch | int,
        groups: Sequence[NewGroup],
        jobs: JobRows | None,
        *_: object,
    ) -> tuple[int, Reserved, datetime | None]:
        self.created.append((new, groups, jobs))
        n_jobs = jobs.n_jobs if jobs else 0
        reserved = Reserved(1, 1, 1, n_jobs, len(groups), committed=True)
        return len(self.created), reserved, datetime.now(UTC)

    async def add_jobs(
        self, caller: Caller, batch_id: int, update_id: int, jobs: JobRows, *_: object
    ) -> bool:
        self.bunches.append(jobs)
        return True

    async def get_batch(self, caller: Caller, batch_id: int) -> Row:
        if batch_id != 1:
            raise BatchNotFound(batch_id)
        return {"id": batch_id, "trace_id": "0" * 32, "user": "somebody"}

    async def sees_batch(self, caller: Caller, batch_id: int) -> bool:
        if batch_id != 1:
            raise BatchNotFound(batch_id)
        return True

    async def get_group(self, caller: Caller, batch_id: int, group: int | str) -> Row:
        assert "\0" not in str(group)
        raise GroupNotFound(batch_id, group)

    async def list_batches(self, caller: Caller, **_: object) -> Sequence[Row]:
        raise ZeroDivisionError("a mistake of ours")

    async def overview(self, caller: Caller) -> Row:
        return {
            "workers": [WORKER],
            "running": 1,
            "ready": 2,
            "pending": 3,
            "blocked": 4,
            "conditions": 5,
        }

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (a method of any signature)
        async def refuse(*_: object, **__: object) -> None:
            raise AssertionError(f"unexpected call: {name}")

        return refuse


def client_of(app: Application, **headers: str) -> httpx.AsyncClient:
    """Give a client of an application that no server serves; what fails in it is an answer."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://weft", headers=headers)


class SilentNotices:
    """Nothing ever happens."""

    async def listen(self, *channels: str) -> AsyncIterator[tuple[str, str]]:
        yield "", ""
