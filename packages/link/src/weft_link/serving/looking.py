"""What the directories of running attempts of workers outside have: their workers are asked."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from weft.core.bounded import read_msgpack
from weft.core.errors import ExecElsewhere, FileElsewhere, WeftError
from weft.core.files.file_paths import WrongPath, parts_of
from weft.ports.running_files import RunningAttempt, RunningFile
from weft.ports.worker_link import (
    LOG_BYTES_MAX,
    CarriedCommand,
    LinkedStore,
    Look,
    LookStore,
    Seen,
)
from weft.wire import exec as wire
from weft_link.serving.notices import LinkNotices, Listener
from weft_link.serving.refusals import refused, wrong_frame

ANSWER_S: Final = 5.0
_ASKED_MAX: Final = 16
_NUMBER_CHARS: Final = 32


class LinkedRunningFiles:
    """See the port `RunningFiles`. Whichever api is asked, the database tells the one to which the
    worker is connected, and brings the answer back if it came to another one.
    """

    def __init__(self, find_store: Callable[[], LinkedStore], notices: LinkNotices) -> None:
        self._find_store = find_store
        self._notices = notices
        notices.on_look = self._on_look
        self._asked: dict[str, _Asked] = {}
        self._under_way: set[asyncio.Task[None]] = set()

    async def listed(self, of: RunningAttempt) -> Sequence[RunningFile]:
        seen = await self._ask(of)
        return () if seen is None else seen.files

    async def find(self, of: RunningAttempt, path: str) -> RunningFile | None:
        seen = await self._ask(of, path)
        return None if seen is None or not seen.files else seen.files[0]

    async def read(
        self, of: RunningAttempt, path: str, start: int, stop: int
    ) -> AsyncIterator[bytes]:
        while start < stop:
            seen = await self._ask(of, path, start, min(LOG_BYTES_MAX, stop - start))
            if seen is None or not seen.data:
                return
            yield seen.data[: stop - start]
            start += len(seen.data)

    async def begin(
        self, of: RunningAttempt, begin: wire.Begin, terminal: wire.Terminal | None
    ) -> CarriedCommand | wire.Refused | None:
        """See `begin_exec` of the port `ServedLink`."""
        asked, why = _Asked(opens=True), "it is of an older release: update it"
        try:
            database = await self._find_store().database_id()
            begin = msgspec.structs.replace(begin, database=database)
            seen = await self._ask(of, "", asked=asked)
            if asked.command is not None:
                return await asked.command.begin(begin, terminal)
            if seen is None:
                return None
            if seen.data:
                why = "its link leads to another api of this installation: ask that one"
        except WeftError as error:
            why = (error.detail or error.message).rstrip(".")
            if asked.command is not None:  # it came too late
                asked.command.close()
        return wire.Refused(ExecElsewhere.code, f"worker {of.worker} cannot do exec: {why}")

    def open(self, incarnation_id: int, number: str, frames: wire.Frames) -> CarriedCommand:
        """Give who asked the stream that a worker has opened. Raise `LinkRefused` if another
        worker was asked, or none here.
        """
        asked = self._asked.get(number, _Asked())
        if not asked.opens or asked.seen.done() or asked.incarnation_id != incarnation_id:
            raise refused("No command of this number waits here for it.")
        asked.command = CarriedCommand(frames)
        asked.tell(Seen())
        return asked.command

    async def take(self, store: LookStore, incarnation_id: int, number: str, seen: Seen) -> None:
        """Take an answer. Raise `LinkFrameRefused`."""
        for one in seen.files:
            _check(one)
        asked = self._asked.get(number)
        if asked is not None and asked.incarnation_id == incarnation_id:
            asked.tell(seen)
        elif len(number) == _NUMBER_CHARS and number.isalnum():
            await store.answer_look(incarnation_id, number, msgspec.msgpack.encode(seen))

    async def _ask(
        self,
        of: RunningAttempt,
        path: str | None = None,
        start: int = 0,
        n_bytes: int = 0,
        asked: "_Asked | None" = None,
    ) -> Seen | None:
        """Ask the worker of an attempt; None: it is not one outside. Raise `FileElsewhere`."""
        number, store = secrets.token_hex(_NUMBER_CHARS // 2), self._find_store()
        asked = self._asked[number] = asked or _Asked()
        question = Look(number, of.key, path, start, n_bytes, asked.opens)
        look = msgspec.json.encode(question).decode()
        try:
            with self._notices.opened(Listener(None, 0, 0)) as stream:
                async with asyncio.timeout(ANSWER_S):
                    await stream.next()  # from now on no answer is missed
                    asked.incarnation_id = await store.ask_look(
                        number, of.key, look, most=_ASKED_MAX, open_s=ANSWER_S
                    )
                    if asked.incarnation_id is None:
                        return None
                    if not asked.incarnation_id:
                        raise _elsewhere(of, f"It is asked {_ASKED_MAX} other things already.")
                    return await asked.seen
        except TimeoutError as error:
            why = f"It did not answer within {ANSWER_S:g} s, or is of an older release."
            raise _elsewhere(of, why) from error
        finally:
            del self._asked[number]
            if asked.incarnation_id:
                with suppress(WeftError):  # it goes by itself with a later question
                    await store.take_look(number)

    def _on_look(self, payload: str) -> None:
        """Pass a question on to the worker, if it is connected here, or take an answer."""
        incarnation, _, number = payload.partition(":")
        if not incarnation and number in self._asked:
            work = self._fetch(number)
        elif incarnation and self._notices.hears(int(incarnation)):
            work = self._pass_on(int(incarnation), number)
        else:
            return
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _pass_on(self, incarnation_id: int, number: str) -> None:
        with suppress(WeftError):  # who asks hears no answer
            question = await self._find_store().read_look(incarnation_id, number)
            if question is not None:
                self._notices.tell(incarnation_id, ("look", question))

    async def _fetch(self, number: str) -> None:
        with suppress(WeftError):
            answer = await self._find_store().take_look(number)
            if answer is not None and (asked := self._asked.get(number)) is not None:
                asked.tell(read_msgpack(answer, Seen))


class _Asked:
    """A question that has no answer yet."""

    def __init__(self, *, opens: bool = False) -> None:
        self.opens = opens
        self.command: CarriedCommand | None = None
        self.seen: asyncio.Future[Seen] = asyncio.get_running_loop().create_future()
        self.incarnation_id: int | None = None

    def tell(self, seen: Seen) -> None:
        if not self.seen.done():
            self.seen.set_result(seen)


def _check(one: RunningFile) -> None:
    """Raise `LinkFrameRefused` if no file can be like that."""
    try:
        parts_of(one.path)
    except WrongPath as error:
        raise wrong_frame(str(error)) from error


def _elsewhere(of: RunningAttempt, why: str) -> FileElsewhere:
    return FileElsewhere(
        f"the worker {of.worker} does not show the files of a running job",
        detail=why,
        hint="Try again; what the job leaves is kept when it has ended.",
    )
