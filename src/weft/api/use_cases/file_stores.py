"""Stores of objects: operators set and remove them, everybody in the tenant sees them.

Files that jobs will need are looked for before anything runs: whether they are there and may be
had, and whether jobs may leave files where they are to. Nothing is kept of that.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from weft.api.calls.call import call
from weft.api.calls.path_ids import StoreName
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.addresses import parse_allowed_hosts
from weft.core.alike import alike
from weft.core.deliveries.callback_url import parse_target
from weft.core.errors import (
    BatchNotFound,
    FieldError,
    FileStoreNotFound,
    InvalidValue,
    JobNotFound,
    TooManyFileStores,
)
from weft.core.files.file_paths import STORE, JobFile, StoreFile, UrlFile, WrongPath, parse_source
from weft.core.files.file_stores import parse_bucket, wrong_endpoint, wrong_region
from weft.ports.file_store import FileMissing, FileProblem, Head, StoreAway
from weft.ports.patience import tasks_beside
from weft.ports.store import Caller, Row, StoredFileStore
from weft.submission.services import Answer
from weft.submission.translation.files import wrong_url
from weft.telemetry.log import log
from weft.wire.documents.file_stores import (
    FileStoreAnswer,
    FileStoreDocument,
    FileStoreRemoved,
    FileStoreTried,
    NewFileStore,
)
from weft.wire.documents.files import FilesToTry, FilesTried, WantedFile


@call("GET /v1/stores", Right.READ, page=FileStoreAnswer)
async def list_stores(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the stores of the tenant by name. None shows a credential."""
    return await services.store.list_stores(caller)


@call("PUT /v1/stores/{store}", Right.OPERATE, FileStoreAnswer, client="add_store")
async def save_store(
    services: Services, caller: Caller, name: StoreName, document: FileStoreDocument
) -> Answer:
    """Set a store, in place of one of the same name. Jobs that start from now on use it. Only for
    operators. Raise `InvalidValue`, `TooManyFileStores`.
    """
    errors = _wrong(services, document)
    if document.secret is not None and document.secret not in {
        row["name"] for row in await services.store.list_secrets(caller)
    }:
        message = f"you have no secret {document.secret!r}"
        errors.append(FieldError("/secret", f"{message}; `weft secret set` makes it"))
    if errors:
        raise InvalidValue("the store was not set", errors=errors)
    most = services.settings.stores_max
    new = alike(NewFileStore, document, name=name, url=document.url.removesuffix("/"))
    found = await services.store.save_store(caller, new, stores_max=most)
    if found is None:
        raise TooManyFileStores(
            "the tenant has too many stores", detail=f"It may have {most} (stores_max)."
        )
    log.info("store.set", store=name, url=new.url, user=caller.user_name)
    return dict(found)


@call("GET /v1/stores/{store}", Right.READ, FileStoreAnswer)
async def get_store(services: Services, caller: Caller, name: StoreName) -> Answer:
    """Return a store. Raise `FileStoreNotFound`."""
    stores = await services.store.list_stores(caller, name)
    if not stores:
        raise _not_found(name)
    return dict(stores[0])


@call("POST /v1/stores/{store}/trial", Right.OPERATE, FileStoreTried, client="test_store")
async def try_store(services: Services, caller: Caller, name: StoreName) -> Answer:
    """Try a store as a job would, from the api's host: write, read and remove a small object; in
    one that is only read, ask for an object. What does not work is in the answer. Only for
    operators. Raise `FileStoreNotFound`.
    """
    store = await services.store.find_store(caller, name)
    if store is None or services.objects is None:
        raise _not_found(name)
    steps = await services.objects.attempt(store)
    works = all(step.problem is None for step in steps)
    return {
        "name": name,
        "url": store.url,
        "access": store.access,
        "works": works,
        "steps": [step._asdict() for step in steps],
    }


@call("DELETE /v1/stores/{store}", Right.OPERATE, FileStoreRemoved, silent=True)
async def remove_store(services: Services, caller: Caller, name: StoreName) -> Answer:
    """Forget a store. Its objects stay; jobs that name it and start later fail. Only for
    operators. Raise `FileStoreNotFound`.
    """
    if not await services.store.remove_store(caller, name):
        raise _not_found(name)
    log.info("store.removed", store=name, user=caller.user_name)
    return {"name": name}


def _wrong(services: Services, document: FileStoreDocument) -> list[FieldError]:
    errors = []
    try:
        parse_bucket(document.url)
    except ValueError as error:
        errors.append(FieldError("/url", str(error)))
    allowed = parse_allowed_hosts(services.settings.store_private_hosts)
    if document.endpoint is not None and (wrong := wrong_endpoint(document.endpoint, allowed)):
        errors.append(FieldError("/endpoint", wrong))
    if document.region is not None and (wrong := wrong_region(document.region)):
        errors.append(FieldError("/region", wrong))
    if (document.secret is not None) != (document.credentials == "secret"):
        message = "a store names either a secret, or the credentials `env` or `instance-role`"
        errors.append(FieldError("/secret", message))
    return errors


def _not_found(name: str) -> FileStoreNotFound:
    return FileStoreNotFound(
        f"store {name} does not exist", detail="The tenant has no store of this name."
    )


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
    async with tasks_beside(tasks):
        if tasks:
            await asyncio.wait(tasks, timeout=_ALL_S)
        seen = [one.result() if one.done() else _UNSEEN for one in tasks]
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
        async with aclosing(self.services.objects.reader(found).read(source.path)) as pieces:  # type: ignore[type-var]  # it is a generator
            async for piece in pieces:
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
