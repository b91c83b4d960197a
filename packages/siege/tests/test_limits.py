"""When the siege says that a batch was not paused at its limit."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cases import cases
from weft.client.api import Api
from weft_siege import limits
from weft_siege.evidence import Evidence
from weft_siege.load import Batch, Load


class Weft:
    """Answers as a weft whose batch goes on at its limit, and whose driver looks at others."""

    def __init__(self) -> None:
        self.used_cpu_s = 5.0
        self.state = "below"
        self.n_running = 1
        self.complete = self.is_over = False
        self.is_listed = True
        self.looks_left = 99
        """Of a driver, until it is gone."""
        self.asked = 0
        self.then: Callable[[], object] = lambda: None
        """What happens after some time."""
        self._project = self._wanted = "below"

    async def get_batch(self, batch_id: int) -> dict[str, Any]:
        self.asked += 1
        return {"id": batch_id, "n_running": self.n_running, "complete": self.complete}

    async def list_limits(self, batch_id: int | None = None) -> AsyncIterator[dict[str, Any]]:
        self.asked += 1
        if self.asked > 50:
            self.then()
        amount = self.used_cpu_s / 3600
        if self.is_listed:
            yield {"project": None, "batch_id": 7, "limit_state": self.state, "amount": amount}
        if self._project != self._wanted and self.looks_left:
            self.looks_left -= 1
            self._project = self._wanted
        if batch_id is None:
            state = {"project": "of-evidence", "limit_state": self._project}
            yield {"batch_id": None, "amount": 0, **state}

    async def create_project(self, name: str) -> None:
        assert name == "of-evidence"

    async def set_limit(
        self, changes: dict[str, Any], *, project: str | None = None, batch_id: int | None = None
    ) -> None:
        assert (project is None) is (batch_id == 7)
        if project is not None:
            self._wanted = "below" if changes["amount_max"] is None else "paused"


async def found(weft: Weft, path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    for name, seconds in (
        ("PAUSE_S", (0.0, 0.0)),
        ("STANDSTILL_S", 0.0),
        ("SETTLED_WITHIN_S", 0.0),
    ):
        monkeypatch.setattr(limits, name, seconds)
    batch = Batch("limited", 7, [], Evidence(path / "evidence"))
    batch.evidence.path.write_text("b7.j1 1 11 begin\n")
    load = cast("Load", SimpleNamespace(is_over=lambda: weft.is_over))
    await limits.Watch(load, cast("Api", weft), batch, "cpu", 1 / 3600).run()
    return batch.overspent


def ends(weft: Weft) -> None:
    weft.complete, weft.n_running, weft.looks_left = True, 0, 99


def pauses(weft: Weft) -> None:
    weft.state, weft.n_running, weft.looks_left = "paused", 0, 99


def is_over(weft: Weft) -> None:
    weft.is_over = True


@cases(
    ("later", "facts"),
    [
        (later, facts)
        for later in (ends, pauses)
        for facts in (
            {"looks_left": 0},  # no driver leads, or no commit returns
            {"looks_left": 1},
            {"looks_left": 3},
            {"used_cpu_s": 3.0},  # its jobs wait for workers
            {"state": "paused"},  # a worker that is stopped goes on with what it runs
        )
    ],
)
async def test_batch_that_no_driver_could_pause_is_no_mistake(
    later: Callable[[Weft], object],
    facts: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weft = Weft()
    vars(weft).update(facts, then=lambda: later(weft))

    assert await found(weft, tmp_path, monkeypatch) == []


@cases(
    ("facts", "words"),
    [
        ({}, "it was not paused at its limit of cpu"),
        (
            {"is_listed": False},
            "it was not paused at its limit of cpu: Seen(limit_state='not listed'",
        ),
        ({"looks_left": 4}, "it was not paused at its limit of cpu"),
        ({"looks_left": 3}, "it did not come to rest at its limit of cpu"),
        ({"looks_left": 0}, "it did not come to rest at its limit of cpu"),
        ({"used_cpu_s": 3.0}, "it did not come to rest at its limit of cpu"),
        ({"state": "paused"}, "it did not come to rest at its limit of cpu"),
        ({"state": "paused", "n_running": 0, "used_cpu_s": 11.0}, "it used 11 s of CPU, or their"),
    ],
)
async def test_batch_that_is_not_paused_though_a_driver_looks_is_a_mistake(
    facts: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weft = Weft()
    vars(weft).update(facts, then=lambda: is_over(weft))
    (said,) = await found(weft, tmp_path, monkeypatch)

    assert said.startswith(words)
