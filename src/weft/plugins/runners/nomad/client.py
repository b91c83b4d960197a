"""Nomad's API over HTTP. Who is not answered gets `Unavailable`; what is refused, `NomadRefused`.

Requests run in a few threads, each on a connection of its own.
"""

import asyncio
import json
import ssl
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from weft.core.errors import Invalid, Unavailable, WeftError
from weft.plugins.runners.nomad.settings import NomadSettings

_HINT: Final = "The gateway asks again by itself; look at the servers with `nomad server members`."
_CALLS: Final = 8
"""Requests at a time."""
_PIECE: Final = 1 << 16
_NOT_FOUND: Final = 404
_FORBIDDEN: Final = 403
_SERVER: Final = 500
_SAID_MAX: Final = 400
_OURS: Final = ("missing", "nonexistent")
"""What Nomad says with status 500 of a job that it will never take."""


class NomadRefused(WeftError):
    """Nomad refuses a job."""

    code = "WORKER.NOMAD_REFUSED"
    status = 400


class WrongNomadAddress(Invalid):
    """The setting `nomad_address` is no address."""

    code = "WORKER.WRONG_NOMAD_ADDRESS"


class NomadClient:
    """Asks Nomad, and says what it answers."""

    def __init__(self, settings: NomadSettings) -> None:
        self._settings = settings
        found = urlsplit(settings.nomad_address)
        if found.scheme not in {"http", "https"} or not found.hostname:
            raise WrongNomadAddress(
                f"not an address of Nomad: {settings.nomad_address!r}",
                hint="Set `nomad_address` to something like https://nomad.example:4646.",
            )
        self._host, self._is_tls = found.hostname, found.scheme == "https"
        self._port = found.port or 4646
        self._threads = ThreadPoolExecutor(_CALLS, thread_name_prefix="nomad")

    async def call(
        self, method: str, path: Sequence[str], body: object = None, **query: str
    ) -> Any:  # noqa: ANN401 (a document of Nomad's)
        """Return the answer; None: there is no such thing."""
        target = self._target(path, query)
        text = await self._in_thread(self._call, method, target, body)
        return None if text is None else json.loads(text or "null")

    async def read(
        self, path: Sequence[str], *, bytes_max: int, head_bytes: int, **query: str
    ) -> tuple[bytes, int, bytes]:
        """Return the beginning of a long text, how much is left out, and its end."""
        target = self._target(path, query)
        found: tuple[bytes, int, bytes] = await self._in_thread(
            self._read, target, bytes_max, head_bytes
        )
        return found

    def close(self) -> None:
        """Take no more calls."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, call: Any, *arguments: object) -> Any:  # noqa: ANN401 (as `call`)
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, call, *arguments)
        except (OSError, HTTPException, ValueError) as error:
            raise Unavailable(
                f"Nomad is away: {type(error).__name__}: {error}"[:_SAID_MAX], hint=_HINT
            ) from error

    def _target(self, path: Sequence[str], query: Mapping[str, str]) -> str:
        where = "/".join(quote(one, safe="") for one in ("v1", *path))
        return f"/{where}?{urlencode({'namespace': self._settings.nomad_namespace, **query})}"

    def _call(self, method: str, target: str, body: object) -> bytes | None:
        with self._ask(method, target, body) as answer:
            text = answer.read()
        if answer.status == _NOT_FOUND:
            return None
        self._check(answer.status, text)
        return text

    def _read(self, target: str, bytes_max: int, head_bytes: int) -> tuple[bytes, int, bytes]:
        with self._ask("GET", target, None) as answer:
            if answer.status != 200:  # noqa: PLR2004 (OK)
                text = answer.read()
                if answer.status != _NOT_FOUND:
                    self._check(max(answer.status, 400), text)
                return b"", 0, b""
            head, kept, size, total = b"", deque[bytes](), 0, 0
            while piece := answer.read(_PIECE):
                total += len(piece)
                if len(head) < bytes_max:
                    room = bytes_max - len(head)
                    head, piece = head + piece[:room], piece[room:]
                if piece:
                    kept.append(piece)
                    size += len(piece)
                    while size - len(kept[0]) >= bytes_max:
                        size -= len(kept.popleft())
            if total <= bytes_max:
                return head, 0, b""
            tail = (head[head_bytes:] + b"".join(kept))[-(bytes_max - head_bytes) :]
            return head[:head_bytes], total - bytes_max, tail

    def _ask(self, method: str, target: str, body: object) -> HTTPResponse:
        connection = self._connection()
        headers = {"Content-Type": "application/json", "Connection": "close"}
        if self._settings.nomad_token:
            headers["X-Nomad-Token"] = self._settings.nomad_token
        try:
            connection.request(method, target, None if body is None else json.dumps(body), headers)
            # It closes the connection when it has been read.
            return connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def _connection(self) -> HTTPConnection:
        timeout = self._settings.nomad_answer_s
        if not self._is_tls:
            return HTTPConnection(self._host, self._port, timeout=timeout)
        ca = self._settings.nomad_ca
        context = ssl.create_default_context(cafile=None if ca is None else str(ca))
        return HTTPSConnection(self._host, self._port, timeout=timeout, context=context)

    @staticmethod
    def _check(status: int, text: bytes) -> None:
        said = text.decode(errors="replace").strip()[:_SAID_MAX]
        if status == _FORBIDDEN:
            raise Unavailable(f"Nomad refuses the gateway: {said}", hint="Set `nomad_token`.")
        if status >= _SERVER and not any(one in said for one in _OURS):
            raise Unavailable(f"Nomad is away: {said}", hint=_HINT)
        if status >= 400:  # noqa: PLR2004 (an error)
            raise NomadRefused(
                f"Nomad refuses: {said}", hint="Change the job, or the settings of the gateway."
            )
