"""A broker that hangs up in the middle of its greeting."""

import pytest

from weft.ports.transport import Connection

aio_pika = pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")


async def test_hanging_up_is_a_failure_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy host the library raises what no `async with` and no loop may raise."""
    from weft_brokers.rabbitmq.link import FAILURES, Link  # noqa: PLC0415 (an extra)

    async def connect(**_of: object) -> None:
        raise StopAsyncIteration

    monkeypatch.setattr(aio_pika, "connect", connect)
    to = Connection(name="b", kind="rabbitmq", address="amqp://127.0.0.1:1", tenants=())

    with pytest.raises(FAILURES):
        await Link(to).connected()
