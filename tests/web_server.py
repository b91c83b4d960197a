"""A server on this host that answers what a test says, in threads of its own."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple

TICK_S = 0.01
"""How long it takes at most to stop."""


class Question(NamedTuple):
    method: str
    path: str
    headers: Message
    """Of names in any case."""
    body: bytes


class Answer(NamedTuple):
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}


@contextmanager
def web_server(answer: Callable[[Question], Answer], host: str = "127.0.0.1") -> Iterator[str]:
    """Give its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            with suppress(ConnectionError):  # whoever asked may be gone; or nobody answers
                told = answer(Question(self.command, self.path, self.headers, body))
                self.send_response(told.status)
                for name, value in told.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(told.body)))
                self.end_headers()
                self.wfile.write(told.body)

        do_POST = do_PUT = do_GET  # noqa: N815 (the base's names)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((host, 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(TICK_S,), daemon=True)
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
