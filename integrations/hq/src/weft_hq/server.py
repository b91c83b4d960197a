"""Requests to weft. The usual ones take the short way: one plain request to a server without TLS.

Whatever is unusual or goes wrong is left to weft's client, which repeats what may be repeated, and
in whose words every mistake is told.
"""

from __future__ import annotations

import fcntl
import json
import os
from _socket import AF_INET, SOCK_STREAM, socket  # `socket` itself takes 6 ms to import

TYPE_CHECKING = False  # `typing` takes 3 ms to import
if TYPE_CHECKING:
    from typing import Any

    Document = dict[str, Any]
UNUSUAL = ("WEFT_CA_FILE", "WEFT_VISIT", "WEFT_CLEAN_ENV", "WEFT_NO_ENV", "http_proxy")
KEPT = ("WEFT_HOME", "WEFT_URL")
SUCCESSES = (b"200", b"201", b"202")
TIMEOUT_S = 20.0


class Doubt(Exception):
    """The short way is not enough."""


def call(method: str, path: str, document: Document | None = None) -> Document:
    """Return the answer to a request. Raise what weft's client raises."""
    body = None if document is None else json.dumps(document).encode()
    key = os.urandom(16).hex() if method == "POST" else None
    try:
        answer = _short(method, path, body, key)
    except (Doubt, OSError, ValueError, KeyError):
        answer = _careful(method, path, body, key)  # the same key: it is one request
    found: Document = json.loads(answer or b"{}")
    return found


def environment() -> dict[str, str]:
    """Return the caller's environment for a job, without secrets of weft."""
    if _is_usual():
        own = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_") or k in KEPT}
        return {
            k: v for k, v in own.items() if (k + v).encode(errors="ignore") == os.fsencode(k + v)
        }
    from weft.client.submission.ahead import caller_environment  # noqa: PLC0415

    found = caller_environment(home=None)
    return {} if found is None else found.variables


def _home() -> str:
    data = os.environ.get("XDG_DATA_HOME", "").strip() or "~/.local/share"
    return os.path.expanduser(os.environ.get("WEFT_HOME") or f"{data}/weft")


def _is_usual() -> bool:
    return not any(map(os.environ.get, UNUSUAL)) and not os.path.exists(f"{_home()}/weft.toml")


def _server() -> tuple[str, str]:
    """Return address and token. Raise `Doubt`."""
    url, token = os.environ.get("WEFT_URL"), os.environ.get("WEFT_TOKEN")
    if not _is_usual() or (url and not token):
        raise Doubt
    if url and token:
        return url, token
    with open(f"{_home()}/client.json", "rb") as file:
        stored = json.load(file)
    with open(f"{_home()}/run/up.lock", "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:  # it is held as long as the server is there
            return stored["url"], token or stored["token"]
    raise Doubt


def _short(method: str, path: str, body: bytes | None, key: str | None) -> bytes:
    url, token = _server()
    scheme, _, host = url.rstrip("/").partition("://")
    name, _, port = host.partition(":")
    if scheme != "http" or not port.isdecimal() or not token.isprintable():
        raise Doubt
    head = f"{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n"
    head += f"connection: close\r\ncontent-length: {len(body or b'')}\r\n"
    head += "content-type: application/json\r\n" if body else ""
    head += f"idempotency-key: {key}\r\n" if key else ""
    connection = socket(AF_INET, SOCK_STREAM)
    connection.settimeout(TIMEOUT_S)
    connection.connect((name, int(port)))
    connection.sendall(f"{head}\r\n".encode() + (body or b""))
    answer = b"".join(iter(lambda: connection.recv(1 << 18), b""))
    fields, _, content = answer.partition(b"\r\n\r\n")
    is_whole = b"\r\ncontent-length: %d\r\n" % len(content) in fields.lower() + b"\r\n"
    if answer[9:12] not in SUCCESSES or not is_whole:
        raise Doubt
    return content


def _careful(method: str, path: str, body: bytes | None, key: str | None) -> bytes:
    import asyncio  # noqa: PLC0415

    from weft.client.http.address import Locator  # noqa: PLC0415
    from weft.client.http.session import HttpSession  # noqa: PLC0415

    async def ask() -> bytes:
        session = HttpSession(Locator())
        try:
            return await session.request(method, path, body=body, key=key)
        finally:
            session.close()

    return asyncio.run(ask())
