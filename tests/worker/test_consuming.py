"""The consumer of a queue goes on whatever happens."""

import asyncio

import pytest
import structlog

from weft.ports.transport import Route
from weft.worker.agent import consuming
from weft.worker.agent.consuming import Consuming


async def test_a_consumer_that_fails_is_told_and_begins_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also by what no transport raises."""
    monkeypatch.setattr(consuming, "_RETRY_FIRST_S", 0.0)
    monkeypatch.setattr(consuming, "_RETRY_LONGEST_S", 0.0)
    again = asyncio.Event()
    tries = iter([KeyError("a mistake"), None])

    class Failing(Consuming):
        def __init__(self) -> None:
            pass

        async def _consume(self, consumer: consuming._Consumer) -> None:
            assert consumer.name == "rabbit"
            if (error := next(tries)) is not None:
                raise error
            again.set()
            await asyncio.Event().wait()

    consumer = consuming._Consumer("rabbit", Route("local", "q1"))
    with structlog.testing.capture_logs() as told:
        task = asyncio.create_task(Failing()._consume_always(consumer))
        await again.wait()
    assert not task.done()
    task.cancel()
    assert [(one["event"], one["queue"]) for one in told] == [("transport.consumer_failed", "q1")]
