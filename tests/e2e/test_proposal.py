"""The examples of the proposal of job groups run as they are written there."""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.example_page import run_page
from weft import Client, aio

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent


class Random:
    """Heads and tails in turn, so that one knows what comes out."""

    def __init__(self) -> None:
        self._values: Iterator[float] = cycle((0.1, 0.9))

    def random(self) -> float:
        return next(self._values)


async def test_as_written(weft: Weft) -> None:
    with Client(home=weft.home) as client:
        await run_page(HERE / "proposal.md", {"client": client, "random": Random()})


async def test_with_await(weft: Weft) -> None:
    async with aio.Client(home=weft.home) as client:
        await run_page(HERE / "proposal_async.md", {"client": client, "random": Random()})
