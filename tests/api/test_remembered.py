"""What the api remembers of its tenants does not grow with their number."""

from pathlib import Path

import pytest

from api.fakes import RecordingStore
from weft.api.services import Services
from weft.ports.store import Caller
from weft.settings import Settings

TENANTS = [Caller(tenant, tenant, "ada") for tenant in (1, 2, 3)]


@pytest.fixture
def store() -> RecordingStore:
    return RecordingStore()


@pytest.fixture
def services(store: RecordingStore, tmp_path: Path) -> Services:
    return Services(
        store=store,
        logs=None,  # type: ignore[arg-type]  # not asked
        settings=Settings(home=tmp_path),
        feeds=None,  # type: ignore[arg-type]  # not asked
    )


async def test_workers_are_read_once_for_all_tenants(
    services: Services, store: RecordingStore
) -> None:
    found = [await services.workers(caller) for caller in TENANTS]

    assert [[{**one, "serves_tenant_id": None} for one in store.workers]] * 3 == found
    assert store.workers_asked == 1
