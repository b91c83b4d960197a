"""Requests to issuers: each with an end, a limit, and no way to anybody else."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from socket import SHUT_RDWR
from typing import Final, NamedTuple, TypeVar
from urllib.parse import urlencode, urlsplit

BYTES_MAX: Final = 1 << 20
FETCH_S: Final = 5.0
OK: Final = 200
FORM: Final = "application/x-www-form-urlencoded"
Result = TypeVar("Result")


class Answered(NamedTuple):
    """What a host has answered."""

    status: int
    body: bytes


def is_safe_url(url: str) -> bool:
    """Say whether nobody on the way to an address could answer in its place."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    if "@" in parts.netloc or not (url.isascii() and url.isprintable()) or " " in url:
        return False  # a password, which would be logged, or another line of the request
    if parts.scheme == "http":
        return parts.hostname in {"127.0.0.1", "::1", "localhost"}
    return parts.scheme == "https" and bool(parts.hostname)


def fetch(url: str, within_s: float = FETCH_S) -> bytes:
    """Return what is at an address: without redirects and proxies, which lead to somebody else.

    Raise `OSError`, `HTTPException`, `ValueError` if it fails, is too slow or too large.
    """
    answered = _ask(url, "GET", None, {}, within_s)
    if answered.status != OK:
        raise ValueError(f"it answered {answered.status}")
    return answered.body


def post_form(
    url: str, form: Mapping[str, str], headers: Mapping[str, str], within_s: float = FETCH_S
) -> Answered:
    """Send a form, and return what is answered; raise as `fetch`."""
    return _ask(url, "POST", urlencode(form), {**headers, "content-type": FORM}, within_s)


def _ask(
    url: str, method: str, body: str | None, headers: Mapping[str, str], within_s: float
) -> Answered:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(str(parts.hostname), parts.port, timeout=within_s)
    # The time limit of a socket is one for each part, and a peer may send one byte at a time.
    is_late = threading.Event()
    deadline = threading.Timer(within_s, _hang_up, (connection, is_late))
    deadline.daemon = True
    deadline.start()
    try:
        path = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        try:
            connection.request(method, path, body, {"accept": "application/json", **headers})
            with connection.getresponse() as answer:
                data = answer.read(BYTES_MAX + 1)
        except (OSError, HTTPException) as error:
            if is_late.is_set():  # we have hung up
                raise _late(within_s) from error
            raise
        if is_late.is_set():  # what came until then looks whole
            raise _late(within_s)
        if len(data) > BYTES_MAX:
            raise ValueError(f"more than {BYTES_MAX} bytes")
        return Answered(answer.status, data)
    finally:
        deadline.cancel()
        connection.close()


def _late(within_s: float) -> TimeoutError:
    return TimeoutError(f"it took longer than {within_s:g} s")


def _hang_up(connection: HTTPConnection, is_late: threading.Event) -> None:
    is_late.set()
    if connection.sock is not None:
        try:
            connection.sock.shutdown(SHUT_RDWR)
        except OSError:
            return


async def in_thread_of_its_own(call: Callable[[], Result]) -> Result:
    """Call it where it keeps nobody from anything: neither other work of threads, nor the end."""
    done: Future[Result] = Future()

    def work() -> None:
        done.set_running_or_notify_cancel()
        try:
            done.set_result(call())
        except BaseException as error:  # noqa: BLE001 (handed over)
            done.set_exception(error)

    threading.Thread(target=work, name="weft-issuer", daemon=True).start()
    return await asyncio.wrap_future(done)
