"""What the store of the driver's tests answers about sources and subscriptions: there are none."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.core.ends.conditions import Tested
from weft.ports.store import StoredFileStore
from weft.ports.store.sources import DueSource
from weft.ports.store.subscriptions import Notified


class FakeSources:
    """A part of `FakeDriverStore`."""

    async def _ask(self, function: str, epoch: int | None = None) -> None:
        raise NotImplementedError

    async def configure(self, epoch: int, settings: Mapping[str, Any]) -> None:  # noqa: ARG002
        await self._ask("configure", epoch)

    async def add_machine_token(
        self,
        epoch: int,
        machine: str,  # noqa: ARG002
        token: str,  # noqa: ARG002
    ) -> bool:
        await self._ask("add_machine_token", epoch)
        return True

    async def test_gateway(self, epoch: int, condition_id: int, gateway: str) -> Tested:
        await self._ask("test_gateway", epoch)
        return Tested(passed=True, message=f"c{condition_id}: {gateway}")

    async def list_notified(
        self,
        epoch: int,
        *,
        after_batch: int | None,  # noqa: ARG002
        limit: int,
    ) -> Notified | None:
        assert limit > 0
        await self._ask("list_notified", epoch)
        return None

    async def record_notices(
        self,
        epoch: int,
        notices: Sequence[Mapping[str, Any]],  # noqa: ARG002
        xid: int,  # noqa: ARG002
        event_id: int,  # noqa: ARG002
    ) -> None:
        await self._ask("record_notices", epoch)

    async def sources_due(self, epoch: int, busy: Sequence[int], *, limit: int) -> float | None:
        assert not busy
        assert limit
        await self._ask("sources_due", epoch)
        return None

    async def due_sources(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueSource]:
        assert limit > len(busy)
        await self._ask("due_sources", epoch)
        return []

    async def store_items(
        self, epoch: int, source: DueSource, found: Sequence[Mapping[str, Any]], **_: object
    ) -> int | None:
        assert source.name
        await self._ask("store_items", epoch)
        return len(found)

    async def find_sink_store(self, tenant_id: int, name: str) -> StoredFileStore | None:
        del tenant_id, name
        return None
