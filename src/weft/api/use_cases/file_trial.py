"""Look for files that jobs will need, before anything runs: whether they are there and may be had,
and whether jobs may leave files where they are to. Nothing is kept.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from weft.api.calls.call import call
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.deliveries.callback_url import parse_target
from weft.core.errors import BatchNotFound, JobNotFound
from weft.core.files.file_paths import STORE, JobFile, StoreFile, UrlFile, WrongPath, parse_source
from weft.ports.file_signing import Head
from weft.ports.file_store import FileMissing, FileProblem, StoreAway
from weft.ports.store import Caller, StoredFileStore
from weft.submission.services import Answer
from weft.submission.translation.files import wrong_url
from weft.telemetry.log import log
from weft.wire.documents.file_trials import FilesToTry, FilesTried, WantedFile

_AT_ONCE: Final = 16
_AWAY_MAX: Final = 3
_ALL_S: Final = 45.0
"""For all files of a request; clients wait for a minute."""
_READ_BYTES_MAX: Final = 1 << 20
"""A larger file is not read for its checksum."""


class _Seen(NamedTuple):
    problem: str | None = None
    is_looked_at: bool = True


_UNSEEN: Final = _Seen(None, is_looked_at=False)


@call("POST /v1/files/trial", Right.WRITE, FilesTried, client="")
async def try_files(services: Services, caller: Caller, document: FilesToTry) -> Answer:
    """Look for files that jobs will need, from the api's host: whether they are there and may be
    had, and whether jobs may leave files in these stores. What does not work is in the answer.
    """
    trial = _Trial(services, caller)
    wanted: list[Callable[[], Awaitable[_Seen]]] = [
        *(lambda one=one: trial.file(one) for one in document.inputs),
        *(lambda name=name: trial.store(name) for name in document.stores),
    ]
    tasks = [asyncio.create_task(trial.bounded(one)) for one in wanted]
    try:
        if tasks:
            await asyncio.wait(tasks, timeout=_ALL_S)
        seen = [one.result() if one.done() else _UNSEEN for one in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    log.info("files.tried", user=caller.user_name, files=len(seen))
    of_stores = seen[len(document.inputs) :]
    return {
        "inputs": [
            {"from": one.from_, **found._asdict()}
            for one, found in zip(document.inputs, seen, strict=False)
        ],
        "stores": [
            {"store": name, **found._asdict()}
            for name, found in zip(document.stores, of_stores, strict=True)
        ],
    }


@dataclass
class _Trial:
    services: Services
    caller: Caller
    _some: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))
    _away: dict[str, list[str]] = field(default_factory=dict)
    """How servers did not answer; one that was silent three times is not asked again."""
    _stores: dict[str, asyncio.Task[StoredFileStore | None]] = field(default_factory=dict)

    async def bounded(self, look: Callable[[], Awaitable[_Seen]]) -> _Seen:
        async with self._some:
            return await look()

    async def store(self, name: str) -> _Seen:
        """Try a store as `weft store test` does."""
        found = await self._find(name) if STORE.fullmatch(name) else None
        if found is None or self.services.objects is None:
            return _Seen(_no_store(name))
        if found.access != "write":
            return _Seen(f"nothing is written to store {name!r}")
        steps = await self.services.objects.attempt(found)
        wrong = next((step for step in steps if step.problem is not None), None)
        return _Seen(None if wrong is None else f"{wrong.step}: {wrong.problem}")

    async def file(self, one: WantedFile) -> _Seen:
        """Look for an input."""
        try:
            source = parse_source(one.from_)
            if isinstance(source, StoreFile):
                return await self._asked(source.store, one, self._object(source))
            if isinstance(source, UrlFile) and self.services.web is not None:
                if (why := wrong_url(source, self.services.settings)) is not None:
                    return _Seen(why)
                host = parse_target(source.url).authority
                head = Head()
                return await self._asked(host, one, self.services.web.read(source.url, head))
            if isinstance(source, JobFile) and source.batch_id is not None:
                return await self._left(source, one)
        except WrongPath as error:
            return _Seen(str(error))
        return _UNSEEN

    async def _asked(self, host: str, one: WantedFile, pieces: AsyncIterator[bytes]) -> _Seen:
        """Look for a file as far as it costs little. `host`: who is asked."""
        away = self._away.setdefault(host, [])
        if len(away) >= _AWAY_MAX:
            return _Seen(away[-1])
        try:
            differs = await _differs(pieces, one.checksum)
        except StoreAway as error:
            away.append(f"{error}")
            return _Seen(away[-1])
        except FileMissing as error:
            return _Seen() if one.optional else _Seen(f"it is missing: {error}")
        except FileProblem as error:
            return _Seen(f"{error}")
        return _Seen("it has another checksum" if differs else None)

    async def _object(self, source: StoreFile) -> AsyncIterator[bytes]:
        found = await self._find(source.store)
        if found is None or self.services.objects is None:
            raise FileProblem(_no_store(source.store))
        async for piece in self.services.objects.reader(found).read(source.path):
            yield piece

    async def _find(self, name: str) -> StoredFileStore | None:
        """Return a store, which is asked for once."""
        if name not in self._stores:
            asking = self.services.store.find_store(self.caller, name)
            self._stores[name] = asyncio.ensure_future(asking)
        return await asyncio.shield(self._stores[name])

    async def _left(self, source: JobFile, one: WantedFile) -> _Seen:
        """Look for what a job of another batch has left."""
        assert source.batch_id is not None
        try:
            found = await self.services.store.find_file(
                self.caller, source.batch_id, source.job_id, source.path, attempt=None
            )
        except (BatchNotFound, JobNotFound) as error:
            return _Seen(error.message)
        if found is None:
            missing = "it is missing: that job has left no such file"
            return _Seen() if one.optional else _Seen(missing)
        if found.why_gone is not None:
            return _Seen("the files of that job are not kept any more")
        differs = one.checksum is not None and _is_other(found.digest, one.checksum)
        return _Seen("it has another checksum" if differs else None)


async def _differs(pieces: AsyncIterator[bytes], checksum: str | None) -> bool:
    """Read the begin of a file, or all of a small one whose checksum is known."""
    digest, n_bytes = hashlib.sha256(), 0
    async with aclosing(pieces):  # type: ignore[type-var]  # they are generators
        async for piece in pieces:
            if checksum is None or (n_bytes := n_bytes + len(piece)) > _READ_BYTES_MAX:
                return False
            digest.update(piece)
    return checksum is not None and _is_other(digest.digest(), checksum)


def _is_other(digest: bytes, checksum: str) -> bool:
    wanted = bytes.fromhex(checksum.partition(":")[2])
    return digest != wanted


def _no_store(name: str) -> str:
    return f"there is no store {name!r}; `weft store ls` lists them"
