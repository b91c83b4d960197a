"""What every callback sender must do: a suite that an author of one subclasses."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from weft.ports.senders import CallbackSender

BODY = b'{"id": 1}'
TIMEOUT_S = 1.0
_WITHIN_S = 20.0


class CallbackSenderSuite:
    """Tests of the port `callback_sender` against a receiver on this host."""

    def sender(self) -> CallbackSender:
        """Return a sender that may send to 127.0.0.1 and waits `TIMEOUT_S`."""
        raise NotImplementedError

    @asynccontextmanager
    async def receiver(self, answer: bytes | None) -> AsyncIterator[tuple[str, list[bytes]]]:
        """Listen; say `answer` to each request, None: nothing. Give the URL and what came."""
        received: list[bytes] = []
        done = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                head = await reader.readuntil(b"\r\n\r\n")
                received.append(head + await reader.readexactly(len(BODY)))
                if answer is None:
                    await done.wait()
                else:
                    writer.write(answer)
                    await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}/hook", received
        finally:
            done.set()
            server.close()
            await server.wait_closed()

    async def test_what_is_sent_arrives(self) -> None:
        """Headers and body, unchanged."""
        async with self.receiver(b"HTTP/1.1 204 X\r\n\r\n") as (url, received):
            answered = await self.sender().send(url, {"Weft-Delivery": "d7"}, BODY)
        assert (answered.status, answered.error) == (204, None)
        assert len(received) == 1
        assert received[0].startswith(b"POST /hook")
        assert b"d7" in received[0]
        assert received[0].endswith(BODY)

    async def test_a_redirection_is_an_answer(self) -> None:
        """Nobody follows it."""
        async with self.receiver(b"HTTP/1.1 200 X\r\n\r\n") as (other, elsewhere):
            moved = b"HTTP/1.1 302 X\r\nlocation: %s\r\ncontent-length: 0\r\n\r\n" % other.encode()
            async with self.receiver(moved) as (url, _):
                answered = await self.sender().send(url, {}, BODY)
        assert answered.status == 302  # noqa: PLR2004 (the status that was said)
        assert elsewhere == []

    async def test_whatever_a_receiver_does_is_an_answer(self) -> None:
        """It says nonsense, it hangs up, it talks for ever, it was never there."""
        gone = ""
        for answer in (
            b"220 smtp ready\r\n\r\n",
            b"",
            b"HTTP/1.1 200 X\r\n" + b"a: b\r\n" * 100_000,
        ):
            async with self.receiver(answer) as (url, _):
                answered = await self.sender().send(url, {}, BODY)
            assert answered.status is None
            assert answered.error
            gone = url
        answered = await self.sender().send(gone, {}, BODY)
        assert (answered.status, bool(answered.error)) == (None, True)

    async def test_a_receiver_that_says_nothing_costs_a_bounded_time(self) -> None:
        """The sender's timeout, not the receiver's patience."""
        begun = time.monotonic()
        async with self.receiver(None) as (url, _):
            answered = await self.sender().send(url, {}, BODY)
        assert (answered.status, bool(answered.error)) == (None, True)
        assert time.monotonic() - begun < TIMEOUT_S + _WITHIN_S
