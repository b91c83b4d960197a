"""Answer what the api asks about the directories of running attempts."""

import asyncio
from typing import Final

import msgspec

from weft.core.bounded import read_json
from weft.core.errors import WeftError
from weft.core.files.file_paths import WrongPath, parts_of
from weft.extensions.link.worker.calls import LinkCaller
from weft.ports.running_files import RunningAttempt, RunningFile, RunningFiles
from weft.ports.worker_link import LOG_BYTES_MAX, LOOKED_MAX, Look, Seen
from weft.telemetry.log import log

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
            except (msgspec.DecodeError, WeftError) as error:  # who asked waits no longer
                log.warning("link.not_answered", error=str(error))

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
