"""What the api remembers of its tenants does not grow with their number."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from api.fakes import RecordingStore
from weft.api import services as services_module
from weft.api.services import Services
from weft.ports.store import Caller, Row
from weft.settings import Settings

TENANTS = [Caller(tenant, tenant, "ada") for tenant in (1, 2, 3)]


class AskedStore(RecordingStore):
    """A store that notes whose queues were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    async def list_queues(self, caller: Caller, **_: object) -> Sequence[Row]:
        self.asked.append(caller.tenant_id)
        return await super().list_queues(caller)


@pytest.fixture
def asked() -> AskedStore:
    return AskedStore()


@pytest.fixture
def services(asked: AskedStore, tmp_path: Path) -> Services:
    return Services(asked, None, Settings(home=tmp_path), None)  # type: ignore[arg-type]  # doubles


async def test_workers_are_read_once_for_all_tenants(
    services: Services, asked: AskedStore
) -> None:
    found = [await services.workers(caller) for caller in TENANTS]

    assert found == [asked.workers] * 3
    assert asked.workers_asked == 1


async def test_queues_of_a_bounded_number_of_tenants_are_kept(
    services: Services, asked: AskedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services_module, "ROUTES_KEPT", 2)
    for caller in (*TENANTS, TENANTS[2], TENANTS[0]):
        await services.routes(caller)

    assert asked.asked == [1, 2, 3, 1]
