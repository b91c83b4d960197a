"""What the worker's composition root passes on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from weft.run import worker
from weft.settings import Settings


class Opened(Exception):
    """The store was opened."""


def test_name_of_a_worker_is_taken_as_long_as_its_jobs_may_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker of the same name on another host must wait until this one has stopped them."""
    settings = Settings(home=tmp_path, database="postgresql://db/weft", lost_after_s=300)
    asked: list[float] = []

    def open_store(_dsn: str, *, grace_s: float) -> Any:  # noqa: ANN401 (never returns)
        asked.append(grace_s)
        raise Opened

    monkeypatch.setattr(worker, "open_worker_store", open_store)
    with pytest.raises(Opened):
        asyncio.run(worker._work(settings, "worker"))

    fence_s = worker.fence_of(settings, "").after_s
    assert fence_s is not None
    assert asked[0] > fence_s
