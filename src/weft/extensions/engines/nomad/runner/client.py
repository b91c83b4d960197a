"""Nomad's API. Who is not answered gets `Unavailable`; what is refused, `NomadRefused`."""

import time
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import quote, urlencode

from weft.core.bounded import read_json
from weft.core.errors import Invalid, Unavailable, WeftError
from weft.extensions.engines.nomad.runner.settings import NomadSettings
from weft.plugins.runners.remote.calls import SAID_MAX, HttpCalls, LongText, server_at

_HINT: Final = "The gateway asks again by itself; look at the servers with `nomad server members`."
_PORT: Final = 4646
_NEWS_S: Final = 60.0
"""After which the stream of events is asked for again."""
_BEAT_S: Final = 10.0
"""How often Nomad says something there even if nothing happens."""
_OK: Final = 200
_NOT_FOUND: Final = 404
_RIGHTS: Final = (401, 403)
_BUSY: Final = 429
_SERVER: Final = 500
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
        server = server_at(
            "Nomad", settings.nomad_address, _PORT, settings.nomad_ca, settings.nomad_answer_s,
            _HINT,
        )  # fmt: skip
        if server is None:
            raise WrongNomadAddress(
                f"not an address of Nomad: {settings.nomad_address!r}",
                hint="Set `nomad_address` to something like https://nomad.example:4646.",
            )
        self._calls = HttpCalls(server)

    async def call(
        self, method: str, path: Sequence[str], body: object = None, /, **query: str
    ) -> Any:  # noqa: ANN401 (a document of Nomad's)
        """Return the answer; None: there is no such thing."""
        target = self._target(path, query)
        status, text = await self._calls.call(method, target, body, self._headers())
        if status == _NOT_FOUND:
            return None
        self._check(status, text)
        try:
            return read_json(text or "null")
        except ValueError as error:
            raise Unavailable(f"Nomad makes no sense: {text[:SAID_MAX]!r}", hint=_HINT) from error

    async def read(
        self, path: Sequence[str], /, *, bytes_max: int, head_bytes: int, **query: str
    ) -> LongText:
        """Return a long text; an empty one if there is none."""
        status, found = await self._calls.read(
            self._target(path, query), self._headers(), bytes_max=bytes_max, head_bytes=head_bytes
        )
        if status == _NOT_FOUND:
            return LongText(b"")
        self._check(status, found.head)
        return found

    def news(self, prefix: str) -> Iterator[None]:
        """Yield when something happens to an allocation of our jobs, for a while. Blocks. Raise
        `Unavailable`.
        """
        target = self._target(["event", "stream"], {"topic": "Allocation"})
        until = time.monotonic() + _NEWS_S
        try:
            with self._calls.open("GET", target, None, self._headers(), longer_s=_BEAT_S) as news:
                if news.status != _OK:
                    self._check(news.status, news.read())
                yield
                while time.monotonic() < until and (line := news.readline()):
                    told = read_json(line).get("Events") or ()
                    jobs = [(one["Payload"].get("Allocation") or {}).get("JobID") for one in told]
                    if any(str(one).startswith(prefix) for one in jobs):
                        yield
        except (OSError, HTTPException, ValueError, LookupError) as error:
            raise Unavailable(f"Nomad is away: {error}"[:SAID_MAX], hint=_HINT) from error

    def close(self) -> None:
        """Take no more calls."""
        self._calls.close()

    def _headers(self) -> dict[str, str]:
        return {"X-Nomad-Token": self._settings.nomad_token} if self._settings.nomad_token else {}

    def _target(self, path: Sequence[str], query: Mapping[str, str]) -> str:
        where = "/".join(quote(one, safe="") for one in ("v1", *path))
        return f"/{where}?{urlencode({'namespace': self._settings.nomad_namespace, **query})}"

    @staticmethod
    def _check(status: int, text: bytes) -> None:
        said = text.decode(errors="replace").strip()[:SAID_MAX]
        if status in _RIGHTS:
            raise Unavailable(f"Nomad refuses the gateway: {said}", hint="Set `nomad_token`.")
        if status == _BUSY or (status >= _SERVER and not any(one in said for one in _OURS)):
            raise Unavailable(f"Nomad is away: {said}", hint=_HINT)
        if status >= 400:  # noqa: PLR2004 (an error)
            raise NomadRefused(
                f"Nomad refuses: {said}", hint="Change the job, or the settings of the gateway."
            )
