"""The PostgreSQL adapters for the suites of `weft.testing`."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from hashlib import sha256
from uuid import uuid4

from store.calls.store_site import StoreSite
from store.world import Backend, World, open_world
from weft.ports.store import (
    GroupLimits,
    WorkerStore,
)
from weft.store import (
    ApiStore,
    DriverStore,
    open_api_store,
    open_driver_store,
)
from weft.store.notices import PostgresNotices

_NOWHERE = "postgresql://weft_api@127.0.0.1:1/weft"
_NEW_TOKEN = (
    "INSERT INTO weft.token (token_hash, tenant_id, user_id, expires_at) "
    "VALUES ($1, $2, $3, CASE WHEN $4 THEN clock_timestamp() END)"
)


class PostgresSite(StoreSite):
    def __init__(self, world: World, other: World, driver: DriverStore) -> None:
        super().__init__()
        self._world, self._other = world, other
        self._dsns = world.backend.dsns
        self.api = world.api
        self.driver = driver
        self.notices = PostgresNotices(self._dsns["weft_driver"])
        self.caller, self.pool = world.caller, world.pool
        self.stranger = other.caller

    async def token(self, *, expired: bool = False) -> str:
        token = uuid4().hex
        await self._world.admin.execute(
            _NEW_TOKEN, sha256(token.encode()).digest(), self.caller.tenant_id,
            self.caller.user_id, expired,
        )  # fmt: skip
        return token

    async def open_worker(
        self, name: str, *, of_stranger: bool = False
    ) -> tuple[WorkerStore, int]:
        worker = await (self._other if of_stranger else self._world).worker(name)
        return worker.store, worker.id

    def open_driver(self) -> AbstractAsyncContextManager[DriverStore]:
        return open_driver_store(self._dsns["weft_driver"])

    def open_api(self, limits: GroupLimits) -> AbstractAsyncContextManager[ApiStore]:
        return open_api_store(self._dsns["weft_api"], limits=limits)

    def open_api_away(self) -> AbstractAsyncContextManager[ApiStore]:
        return open_api_store(_NOWHERE)


@asynccontextmanager
async def open_site(backend: Backend, *, audited_later: bool) -> AsyncIterator[PostgresSite]:
    """Make two tenants; what the test did is audited at the end, once for both."""
    async with (
        open_driver_store(backend.dsns["weft_driver"]) as driver,
        open_world(backend, audited_later=audited_later) as world,
        AsyncExitStack() as stack,
    ):
        other = World(backend, stack)
        await other.open()
        yield PostgresSite(world, other, driver)
