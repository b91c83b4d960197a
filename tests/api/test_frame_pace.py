"""The pace of frames that a client of `weft exec` sends."""

import asyncio
import struct

import pytest

from weft.wire import exec as wire
from weft_exec.pace import ACTS_PER_S, AHEAD_S, INPUTS_PER_S, Acts, Pace

FLOODS = {
    "signals": [(wire.SIGNAL, bytes([n % 2 + 1])) for n in range(1000)],
    "sizes": [(wire.RESIZE, struct.pack("!HH", 24, n)) for n in range(1000)],
    "signs of life": [(wire.ALIVE, b"")] * 1000,
    "nonsense": [(wire.SIGNAL, b"too long"), (wire.RESIZE, b"")] * 500,
}
PASSED_ON = {
    "signals": [(wire.SIGNAL, b"\1"), (wire.SIGNAL, b"\2")],
    "sizes": [(wire.RESIZE, struct.pack("!HH", 24, 999))],
    "signs of life": [],
    "nonsense": [],
}


@pytest.mark.parametrize("kind", FLOODS)
async def test_signals_and_sizes_of_a_moment_go_as_one(kind: str) -> None:
    acts, taken = Acts(), list[tuple[int, bytes]]()

    async def take(kind: int, data: bytes) -> None:
        taken.append((kind, data))

    for frame in FLOODS[kind]:
        acts.note(*frame)
    running = asyncio.create_task(acts.run(take))
    acts.note(wire.SIGNAL, b"\3")  # the last: all before it were passed on when it is
    while (wire.SIGNAL, b"\3") not in taken:
        await asyncio.sleep(0)
    running.cancel()

    assert taken == [*PASSED_ON[kind], (wire.SIGNAL, b"\3")]


@pytest.mark.parametrize("per_s", [ACTS_PER_S, INPUTS_PER_S])
async def test_each_turn_leaves_one_to_others_and_many_wait(per_s: float) -> None:
    pace, n_ahead, n_others = Pace(per_s), int(per_s * AHEAD_S), 0
    loop = asyncio.get_running_loop()

    async def other() -> None:
        nonlocal n_others
        while True:
            n_others += 1
            await asyncio.sleep(0)

    beside, begun = asyncio.create_task(other()), loop.time()
    for _ in range(n_ahead + 20):
        await pace.turn()
    beside.cancel()

    assert n_others >= n_ahead
    assert loop.time() - begun >= 19 / per_s  # they were read no sooner than they were due
