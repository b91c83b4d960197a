"""A receiver of callbacks on this host, in threads of its own, for tests of whole programs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from up.weft_up import DEADLINE_S

_TICK_S = 0.01
"""How long the server takes at most to stop."""


class Receiver:
    """Collects requests; the first is never answered, or with `first_status`."""

    def __init__(self, first_status: int | None = None) -> None:
        self.first_status = first_status
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
    receiver = Receiver(first_status)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            with receiver.arrived:
                receiver.requests.append((dict(self.headers), body))
                is_first = len(receiver.requests) == 1
                receiver.arrived.notify_all()
            if is_first and receiver.first_status is None:
                receiver.closing.wait()
                return
            self.send_response(receiver.first_status or 200 if is_first else 200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 (its name)
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(_TICK_S,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
