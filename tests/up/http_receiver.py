"""A receiver of callbacks on this host, in threads of its own, for tests of whole programs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from up.weft_up import DEADLINE_S
from web_server import Answer, Question, web_server


class Receiver:
    """Collects requests."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.arrived = threading.Condition()
        self.closing = threading.Event()
        self.port = 0

    def until(self, count: int) -> list[tuple[dict[str, str], bytes]]:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.requests) >= count, DEADLINE_S)
            return list(self.requests)


@contextmanager
def receiving(first_status: int | None = None) -> Iterator[Receiver]:
    """Give one; the first request is never answered, or with `first_status`."""
    receiver = Receiver()

    def answer(asked: Question) -> Answer:
        with receiver.arrived:
            receiver.requests.append((dict(asked.headers), asked.body))
            is_first = len(receiver.requests) == 1
            receiver.arrived.notify_all()
        if is_first and first_status is None:
            receiver.closing.wait()
            raise ConnectionAbortedError
        return Answer(status=first_status or 200 if is_first else 200)

    with web_server(answer) as url:
        receiver.port = int(url.rpartition(":")[2])
        try:
            yield receiver
        finally:
            receiver.closing.set()
