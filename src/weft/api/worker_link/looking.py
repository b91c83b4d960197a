"""What the directories of running attempts of workers outside have: their workers are asked."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

import msgspec

from weft.api.worker_link.notices import LinkNotices
from weft.api.worker_link.refusals import wrong_frame
from weft.core.attempt_key import AttemptKey
from weft.core.errors import FileElsewhere
from weft.core.files.file_paths import WrongPath, parts_of
from weft.ports.running_files import SECONDS_MAX, RunningAttempt, RunningFile
from weft.ports.worker_link import LOG_BYTES_MAX, LOOKED_MAX, LinkedStore, Look, Seen

ANSWER_S: Final = 5.0
_ASKED_MAX: Final = 16


class LinkedRunningFiles:
    """See the port `RunningFiles`. Asks by the notices of this api: what is connected to another
    one is not seen.
    """

    def __init__(self, find_store: Callable[[], LinkedStore], notices: LinkNotices) -> None:
        self._find_store = find_store
        self._notices = notices
        self._asked: dict[str, tuple[int, asyncio.Future[Seen]]] = {}

    async def listed(self, of: RunningAttempt) -> Sequence[RunningFile]:
        """Return the files of an attempt."""
        seen = await self._ask(of)
        return () if seen is None else seen.files

    async def find(self, of: RunningAttempt, path: str) -> RunningFile | None:
        """Return one of them."""
        seen = await self._ask(of, path)
        return None if seen is None or not seen.files else seen.files[0]

    async def read(
        self, of: RunningAttempt, path: str, start: int, stop: int
    ) -> AsyncIterator[bytes]:
        """Yield bytes of one of them."""
        while start < stop:
            seen = await self._ask(of, path, start, min(LOG_BYTES_MAX, stop - start))
            if seen is None or not seen.data:
                return
            yield seen.data[: stop - start]
            start += len(seen.data)

    def take(self, incarnation_id: int, number: str, seen: Seen) -> None:
        """Take an answer. Raise `LinkFrameRefused`."""
        if len(seen.files) > LOOKED_MAX or len(seen.data) > LOG_BYTES_MAX:
            raise wrong_frame(f"it has more than {LOOKED_MAX} files or {LOG_BYTES_MAX} bytes")
        for one in seen.files:
            _check(one)
        of, waiting = self._asked.get(number, (0, None))
        if waiting is not None and of == incarnation_id and not waiting.done():
            waiting.set_result(seen)

    async def _ask(
        self, of: RunningAttempt, path: str | None = None, start: int = 0, n_bytes: int = 0
    ) -> Seen | None:
        """Ask the worker of an attempt; None: it is not connected here. Raise `FileElsewhere`."""
        incarnation_id = await self._incarnation_of(of)
        if incarnation_id is None:
            return None
        if sum(one == incarnation_id for one, _ in self._asked.values()) >= _ASKED_MAX:
            raise _elsewhere(of, f"It is asked {_ASKED_MAX} other things already.")
        number = secrets.token_hex(16)
        look = msgspec.json.encode(Look(number, of.key, path, start, n_bytes)).decode()
        waiting: asyncio.Future[Seen] = asyncio.get_running_loop().create_future()
        self._asked[number] = incarnation_id, waiting
        try:
            self._notices.tell(incarnation_id, ("look", look))
            async with asyncio.timeout(ANSWER_S):
                return await waiting
        except TimeoutError as error:
            why = f"It did not answer within {ANSWER_S:g} s, or is of an older release."
            raise _elsewhere(of, why) from error
        finally:
            del self._asked[number]

    async def _incarnation_of(self, of: RunningAttempt) -> int | None:
        """Return which of the connected workers has the attempt."""
        for one in self._notices.heard_as(of.worker):
            live = await self._find_store().list_live(one)
            if of.key in {AttemptKey(has.batch_id, has.job_id, has.attempt) for has in live}:
                return one
        return None


def _check(one: RunningFile) -> None:
    """Raise `LinkFrameRefused` if no file can be like that."""
    try:
        parts_of(one.path)
    except WrongPath as error:
        raise wrong_frame(str(error)) from error
    if not (0 <= one.n_bytes < 2**63 and 0 <= one.changed_s <= SECONDS_MAX):
        raise wrong_frame("it names a file of an impossible length or date")


def _elsewhere(of: RunningAttempt, why: str) -> FileElsewhere:
    return FileElsewhere(
        f"the worker {of.worker} does not show the files of a running job",
        detail=why,
        hint="Try again; what the job leaves is kept when it has ended.",
    )
