"""Checks that products name: one that fails stops the delivery until a person decides."""

import json
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from builders import job_rows
from callbacks.sink_site import site
from callbacks.test_live import Live, driving, live
from callbacks.test_messages import making, until
from store.test_lifecycles import HRSI
from store.test_products import name
from weft.core.errors import MessageNotHeld
from weft.extensions.lines.rules.setup import parse_setup
from weft.run.isolated.asking.messages import MessageMaking
from weft.run.line_sinks import LineSinks

pytestmark = pytest.mark.slow
__all__ = ["live", "making"]
SINK = """
[sink.wekeo]
kind = "command"
command = "announce"
products = true
checks = { valid = ["valid", "--strict"] }
"""
GOOD: Mapping[str, Any] = {"id": 1, "checks": ["valid"]}
BAD: Mapping[str, Any] = {"id": 2, "checks": ["valid"], "bad": True}


@pytest.fixture
async def told(live: Live, making: MessageMaking, tmp_path: Path) -> AsyncIterator[Path]:
    """Give the directory of what was announced, beside a driver that checks."""
    got = tmp_path / "got"
    got.mkdir()
    programs = {
        "announce": f'cat > "$(mktemp {got}/XXXXXX)"',
        "valid": '[ "$1" = --strict ]; if grep -q \'"bad": *true\'; then echo no CRS >&2; '
        "exit 3; fi",
    }
    for program, text in programs.items():
        (tmp_path / program).write_text(f"#!/bin/sh\nset -e\n{text}\n")
        (tmp_path / program).chmod(0o700)
    named = {one: os.fspath(tmp_path / one) for one in programs}
    async with driving(live.dsns, make=making.make, sinks=LineSinks(site(), named)):
        yield got


async def made(live: Live, *products: Mapping[str, Any]) -> int:
    """Run a job that names these products."""
    text = HRSI + SINK
    await live.world.api.save_setup(live.world.caller, "hrsi", text, parse_setup(text))
    batch = await live.world.submit(job_rows(1), lifecycle="hrsi", sink="wekeo")
    worker = await live.world.worker()
    (one,) = await worker.claim()
    await name(worker, one, *map(dict, products))
    await worker.start(one)
    await worker.end(one)
    return batch


async def held(live: Live) -> int:
    """Wait for a message that is held; return its number."""
    while True:
        rows = await live.world.api.list_messages(live.world.caller, "wekeo", after=0, limit=9)
        by_state = {one["state"]: one for one in rows}
        if "pending" not in by_state:
            found = by_state["held"]
            assert found["last_error"] == "check valid: no CRS"
            return int(found["delivery_id"])


def announced(told: Path) -> list[int]:
    return sorted(json.loads(one.read_text())["id"] for one in told.iterdir())


@pytest.mark.parametrize(("dropped", "sent"), [(False, [1, 2]), (True, [1])])
async def test_check_that_fails_waits_for_a_person(
    live: Live, told: Path, *, dropped: bool, sent: list[int]
) -> None:
    batch = await made(live, GOOD, BAD)
    number = await held(live)
    assert announced(told) == [1]
    assert (await until(live, batch, "start_publication"))[-1] == "start_publication"
    api, caller = live.world.api, live.world.caller
    found = await api.get_product(caller, 2)
    assert found is not None
    assert found["check"] == {
        "state": "held", "sink": "wekeo", "delivery_id": number, "error": "check valid: no CRS",
    }  # fmt: skip
    await api.decide_message(caller, "wekeo", number, dropped=dropped)
    assert (await until(live, batch, "done"))[-3:] == ["start_publication", "published", "done"]
    assert announced(told) == sent
    with pytest.raises(MessageNotHeld):
        await api.decide_message(caller, "wekeo", number, dropped=dropped)


async def test_check_that_its_sink_does_not_have_is_one_that_fails(live: Live, told: Path) -> None:
    await made(live, {"id": 1, "checks": ["other"]})
    await live.world.api.list_messages(live.world.caller, "wekeo", after=0, limit=9)
    while True:
        (one,) = await live.world.api.list_messages(live.world.caller, "wekeo", after=0, limit=9)
        if one["state"] != "pending":
            break
    assert (one["state"], one["last_error"]) == ("held", "its sink has no check other")
    assert announced(told) == []
