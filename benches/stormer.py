"""A process that sends requests at a steady rate: `python -m benches.stormer`.

It reads its order as a line of JSON, writes a line when an answer with the status of the order
comes for the first time, and one with what came of it when its input has ended.
"""

import asyncio
import itertools
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

CONNECTIONS: Final = 16
_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"content-length: (\d+)")
_CLOSES: Final = b"\r\nconnection: close\r\n"


class StormOrder(msgspec.Struct):
    """What to send."""

    host: str
    port: int
    token: str
    requests: list[tuple[str, str, str]]
    """Method, path and body (JSON) of those that are sent in turns."""
    per_s: float
    begun_at: int
    """The status of the first answer that counts."""

    def texts(self) -> list[bytes]:
        """Return whole requests."""
        return [
            f"{method} {path} HTTP/1.1\r\n"
            f"host: {self.host}:{self.port}\r\n"
            f"authorization: Bearer {self.token}\r\n"
            "content-type: application/json\r\n"
            f"content-length: {len(body)}\r\n\r\n{body}".encode()
            for method, path, body in self.requests
        ]


class StormDone(msgspec.Struct):
    """What came of it."""

    sent_per_s: float
    answers: dict[int, int]
    """How many by status."""
    connections: int
    """How many were opened."""


class _Storm:
    def __init__(self, order: StormOrder) -> None:
        self._order = order
        self._begun = time.monotonic()
        self._numbers: Iterator[int] = itertools.count()
        self._answers: Counter[int] = Counter()
        self._n_opened = 0
        self._is_over = False

    async def run(self) -> StormDone:
        """Send until the input ends; a connection has at most one request on its way."""
        sending = asyncio.gather(*(self._send() for _ in range(CONNECTIONS)))
        await asyncio.to_thread(sys.stdin.buffer.read)
        self._is_over = True
        await sending
        took_s = time.monotonic() - self._begun
        return StormDone(self._answers.total() / took_s, dict(self._answers), self._n_opened)

    async def _send(self) -> None:
        texts = self._order.texts()
        while not self._is_over:
            reader, writer = await asyncio.open_connection(self._order.host, self._order.port)
            self._n_opened += 1
            while not self._is_over:
                number = next(self._numbers)
                due_s = self._begun + number / self._order.per_s - time.monotonic()
                if due_s > 0:
                    await asyncio.sleep(due_s)
                writer.write(texts[number % len(texts)])
                head = await reader.readuntil(_END)
                if size := _LENGTH.search(head):
                    await reader.readexactly(int(size[1]))
                self._count(int(head.split(maxsplit=2)[1]))
                if _CLOSES in head:
                    break
            writer.close()

    def _count(self, status: int) -> None:
        if status == self._order.begun_at and not self._answers[status]:
            _write("begun")
        self._answers[status] += 1


def _write(message: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    """Carry out one order."""
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=StormOrder)
    _write(asyncio.run(_Storm(order).run()))


if __name__ == "__main__":
    main()
