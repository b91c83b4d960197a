"""Answer what the api asks about the directories of running attempts. Where the api is, and the
token of this worker, is read again whenever it is refused.
"""

import asyncio
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.client.http.address import Endpoint, parse_url
from weft.client.http.trust import require_tls
from weft.core.bounded import read_json
from weft.core.files.file_paths import WrongPath, parts_of
from weft.extensions.link.worker.calls import LinkCaller
from weft.ports.running_files import RunningAttempt, RunningFile, RunningFiles
from weft.ports.worker_link import LOG_BYTES_MAX, LOOKED_MAX, Look, Seen
from weft.settings import InvalidSetting, Settings
from weft.telemetry.log import log

_TOKEN_BYTES_MAX: Final = 4096
_WRITTEN: Final = "Write into it what `weft token create NAME --pool POOL` prints."


def finder_of(settings: Settings) -> "LinkFinder":
    """Return what finds the api of a worker that connects."""
    assert settings.connect is not None
    return LinkFinder(
        settings.connect, settings.token_file, settings.ca_file, settings.connect_cert_file
    )


@dataclass(frozen=True)
class LinkFinder:
    """Finds the api for a linked worker."""

    url: str
    token_file: Path | None
    ca_file: Path | None = None
    cert_file: Path | None = None

    def locate(self) -> Endpoint:
        """Return the api. Raise `InvalidSetting`, `InvalidUrl`."""
        url = parse_url(self.url, None)
        require_tls(url)
        return url._replace(token=self._token(), ca_file=self.ca_file, cert_file=self.cert_file)

    def _token(self) -> str:
        file = self.token_file
        if file is None:
            raise InvalidSetting(
                "a worker that connects needs a token",
                detail="The setting `connect` is given, and `token_file` is not.",
                hint="Make one with `weft token create NAME --pool POOL`, and name its file with "
                "--token-file.",
            )
        try:
            with file.open("rb") as opened:
                mode = os.fstat(opened.fileno()).st_mode
                text = opened.read(_TOKEN_BYTES_MAX).decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            why = f"{getattr(error, 'strerror', None) or error}"
            raise InvalidSetting(
                f"the token in {file} cannot be read", detail=f"{why}.", hint=_WRITTEN
            ) from error
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InvalidSetting(
                f"others may read {file}",
                detail="Whoever has the token may run the jobs of its pool.",
                hint=f"Protect it with `chmod 600 {file}`.",
            )
        if not text or not text.isascii() or not text.isprintable():
            why = "It is empty, or holds more than one line of letters, digits and signs."
            raise InvalidSetting(f"{file} does not hold a token", detail=why, hint=_WRITTEN)
        return text


_WAITING_MAX: Final = 32
"""The api asks for less at a time; what is more is not answered."""


class Looking:
    """Answers one question after the other, so that it takes little of the worker."""

    def __init__(self, caller: LinkCaller, worker: str) -> None:
        self._caller = caller
        self._worker = worker
        self.running: RunningFiles | None = None
        """Set before the first question can come."""
        self._waiting: asyncio.Queue[str] = asyncio.Queue(_WAITING_MAX)

    def ask(self, question: str) -> None:
        """Take a question, to be answered."""
        if not self._waiting.full():
            self._waiting.put_nowait(question)

    async def run(self) -> None:
        """Answer until cancelled."""
        while True:
            question = await self._waiting.get()
            try:
                look = read_json(question, Look)
                seen = await self._look(look)
                await self._caller.call(
                    "answer_look", self._caller.incarnation_id, look.number, seen
                )
            except Exception as error:  # noqa: BLE001 (whatever it is, others ask, too)
                log.warning("link.not_answered", error=f"{error!r}")

    async def _look(self, look: Look) -> Seen:
        assert self.running is not None
        of = RunningAttempt(look.key, self._worker)
        if look.path is None:
            listed = [one for one in await self.running.listed(of) if _has_path(one)]
            return Seen(listed[:LOOKED_MAX])
        if look.n_bytes == 0:
            found = await self.running.find(of, look.path)
            return Seen(() if found is None else (found,))
        stop = look.start + min(look.n_bytes, LOG_BYTES_MAX)
        pieces = [piece async for piece in self.running.read(of, look.path, look.start, stop)]
        return Seen(data=b"".join(pieces))


def _has_path(one: RunningFile) -> bool:
    """Say whether a job could leave this file: its name may be no text."""
    try:
        parts_of(one.path)
    except WrongPath:
        return False
    return True
