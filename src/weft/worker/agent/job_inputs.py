"""The inputs of attempts: found, fetched or taken from the cache, and placed."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Final

import msgspec

from weft.core.files import file_paths
from weft.core.states import AttemptKey, JobState
from weft.ports.file_store import (
    FileDiffers,
    FileMissing,
    FileProblem,
    FileRefused,
    FileStore,
    Head,
    HeldFile,
    NotResumable,
)
from weft.ports.patience import end_tasks, until_answered
from weft.ports.runner import Assignment
from weft.ports.shared_room import SharedRoom
from weft.ports.store import FileWanted, FoundFile, WorkerStore
from weft.wire.documents.files import FileInput
from weft.wire.spawner import CONTAINER_WORK
from weft.worker.agent.job_accounts import JobTenants
from weft.worker.agent.object_uploads import FileSite, ObjectUploads
from weft.worker.stager.cache import DiskRoom, Getting, NotCached, Part, Promise, Wanted, words
from weft.worker.stager.placing import link, put_copy, put_file, put_link, unpack

_FIRST_S: Final = 3.0
_EVERY_S: Final = 10.0
"""A note of an attempt is one row, which each of them writes again."""


_BEGINNINGS_MAX: Final = 4
"""Of a file that is changed while it is fetched; after them its job waits, as for a store."""


class JobInputs:
    """Brings what attempts of one incarnation get. `directory`: it is below that."""

    def __init__(
        self,
        site: FileSite,
        store: WorkerStore,
        uploads: ObjectUploads,
        incarnation_id: int,
        directory: Path,
    ) -> None:
        self._site, self._settings = site, site.settings
        self._uploads = uploads
        self._store = store
        self._incarnation_id = incarnation_id
        self._room = DiskRoom(directory, site.cache.free_some)
        self.tenants = JobTenants(store)
        # Stores of tenants may be silent, and what they pack may take hours to unpack.
        self.places = SharedRoom(2 * site.settings.staging_files_max)
        # Web servers, which may be slow, hold up no other files.
        self._web_room = SharedRoom(2 * site.settings.staging_files_max)

    async def bring_all(
        self, one: Assignment, work: Path, tell: Callable[[str], None]
    ) -> dict[str, str]:
        """Bring the inputs of an attempt into its directory; return the variables that name them.
        Raise `FileProblem`, `OSError`. `tell` is told now and then how far they have come.
        """
        inputs = one.spec.inputs or ()
        seen = work
        if one.spec.container is not None:  # it sees its directory there, and nothing else
            seen = Path(CONTAINER_WORK)
            inputs = tuple(msgspec.structs.replace(given, mode="copy") for given in inputs)
        sources = [_source_of(given) for given in inputs]
        found = await self._find(one.key, sources)
        all_parts = [Part() for _ in inputs]
        bringing = [
            asyncio.create_task(self._bring_one(one, work, given, source, found.get(n), part))
            for n, (given, source, part) in enumerate(zip(inputs, sources, all_parts, strict=True))
        ]
        telling = _Telling(all_parts, tell)
        try:
            paths = await asyncio.gather(*bringing)
        finally:
            telling.end()
            await end_tasks(bringing)
        return {
            given.env: str(seen / path.relative_to(work))
            for given, path in zip(inputs, paths, strict=True)
            if given.env is not None and path is not None
        }

    async def _find(
        self, key: AttemptKey, sources: list[file_paths.FileSource]
    ) -> Mapping[int, FoundFile | None]:
        """Return what the database knows of the files that weft keeps, by their places here."""
        wanted = {
            n: FileWanted(source.batch_id, source.job_id, source.parent, source.path)
            if isinstance(source, file_paths.JobFile)
            else FileWanted(
                None,
                0,
                None,
                source.address if isinstance(source, file_paths.StoreFile) else source.path,
            )
            for n, source in enumerate(sources)
            if not isinstance(source, file_paths.HostFile | file_paths.UrlFile)
        }
        if not wanted:
            return {}
        rows = await until_answered(
            lambda: self._store.find_files(self._incarnation_id, key, list(wanted.values()))
        )
        return dict(zip(wanted, rows, strict=True))

    async def _bring_one(
        self,
        assignment: Assignment,
        work: Path,
        given: FileInput,
        source: file_paths.FileSource,
        found: FoundFile | None,
        part: Part,
    ) -> Path | None:
        try:
            is_url = isinstance(source, file_paths.UrlFile)
            tenant_id = await self.tenants.id_of(assignment.key)
            room = self._web_room if is_url else self.places
            limit_s = self._settings.input_url_s_max if is_url else None
            async with room.of(tenant_id), asyncio.timeout(limit_s):
                for _ in range(_BEGINNINGS_MAX - 1):
                    with suppress(NotResumable):
                        return await self._bring_now(assignment, work, given, source, found, part)
                return await self._bring_now(assignment, work, given, source, found, part)
        except TimeoutError as error:
            most = f"{self._settings.input_url_s_max:g} s (input_url_s_max)"
            raise FileRefused(f"its input {given.from_} did not come within {most}") from error
        except FileMissing as error:
            if given.optional:
                return None
            raise FileMissing(f"its input {given.from_} is missing: {error}") from error
        except FileProblem as error:
            raise type(error)(f"its input {given.from_}: {error}") from error
        finally:
            part.is_here = True

    async def _bring_now(
        self,
        assignment: Assignment,
        work: Path,
        given: FileInput,
        source: file_paths.FileSource,
        found: FoundFile | None,
        part: Part,
    ) -> Path:
        parts = _parts(given, source)
        n_bytes, digest = (found.n_bytes, found.digest) if found else (None, None)
        checksum = digest
        if given.checksum is not None:
            checksum = bytes.fromhex(given.checksum.partition(":")[2])
            if digest is not None and checksum != digest:
                raise FileDiffers("it has another checksum")
        if isinstance(source, file_paths.StoreFile | file_paths.UrlFile):
            held = await self._cached(assignment.key, source, checksum, part)
            if held is not None:
                await self._place(assignment, work, parts, given, held)
                return work.joinpath(*parts)
        with self._room.for_files() as promise:
            if isinstance(source, file_paths.StoreFile | file_paths.UrlFile):
                pieces = self._fetch(assignment.key, source, Head(), promise, part)
            else:
                store, path = self._place_of(source, found)
                facts = await store.facts(path)
                self._check_size(facts.n_bytes)
                may_link = given.mode == "link" and isinstance(source, file_paths.HostFile)
                if may_link and not given.unpack and checksum is None:
                    await asyncio.to_thread(link, work, parts, source.path)
                    return work.joinpath(*parts)
                await promise(facts.n_bytes)
                pieces, part.n_bytes = _counted(store.read(path), part), facts.n_bytes
            into, name = work, parts
            if given.unpack:
                into, name = work.parent, (f"archive-{os.urandom(8).hex()}",)
            most = self._settings.input_bytes_max
            await put_file(into, name, pieces, digest=checksum, n_bytes=n_bytes, bytes_max=most)
            if given.unpack:
                try:
                    await self._unpack(work, parts, into / name[0])
                finally:
                    (into / name[0]).unlink(missing_ok=True)
        return work.joinpath(*parts)

    async def _cached(
        self,
        key: AttemptKey,
        source: file_paths.StoreFile | file_paths.UrlFile,
        digest: bytes | None,
        part: Part,
    ) -> HeldFile | None:
        """Return an open file that the cache has now; None: it is none for the cache."""
        cache = self._site.cache
        if not cache.is_on:
            return None
        address = source.address if isinstance(source, file_paths.StoreFile) else source.url
        wanted = Wanted(await self.tenants.id_of(key), address, digest)
        with self._room.for_files() as promise, suppress(NotCached):
            getting = Getting(
                lambda head: self._fetch(key, source, head, promise, part),
                self._settings.input_bytes_max,
                part,
            )
            return await cache.get(wanted, getting)
        return None

    async def _fetch(
        self,
        key: AttemptKey,
        source: file_paths.StoreFile | file_paths.UrlFile,
        head: Head,
        promise: Promise,
        part: Part,
    ) -> AsyncIterator[bytes]:
        """Yield what an address has, as soon as there is room for it."""
        if isinstance(source, file_paths.UrlFile):
            pieces = self._site.web.read(source.url, head)
        else:
            url = await self._uploads.url(key, "GET", source)
            pieces = self._site.objects.read(url, head=head)
        is_promised, part.come = False, 0
        async with aclosing(pieces):  # type: ignore[type-var]  # it is a generator
            async for piece in pieces:
                if not is_promised:
                    if head.n_bytes is not None:
                        self._check_size(head.n_bytes)
                    await promise(head.n_bytes or 0)
                    is_promised, part.n_bytes = True, head.n_bytes
                part.come += len(piece)
                yield piece

    async def _place(
        self,
        assignment: Assignment,
        work: Path,
        parts: tuple[str, ...],
        given: FileInput,
        held: HeldFile,
    ) -> None:
        """Place what the cache has, so that no job can change it there."""
        try:
            if given.unpack:
                await self._unpack(work, parts, Path(f"/proc/self/fd/{held.fd}"))
                return
            is_safe = assignment.account is not None and assignment.account.uid != os.geteuid()
            if (
                given.mode == "link"
                and is_safe
                and await asyncio.to_thread(put_link, work, parts, held)
            ):
                return
            with self._room.for_files() as promise:
                await promise(held.n_bytes)
                await asyncio.to_thread(put_copy, work, parts, held)
        finally:
            os.close(held.fd)

    def _check_size(self, n_bytes: int) -> None:
        if n_bytes > (most := self._settings.input_bytes_max):
            raise FileRefused(f"it has {n_bytes} bytes, at most {most} (input_bytes_max)")

    async def _unpack(self, work: Path, parts: tuple[str, ...], archive: Path) -> None:
        await asyncio.to_thread(
            unpack,
            work,
            parts,
            archive,
            bytes_max=self._settings.input_bytes_max,
            entries_max=self._settings.input_entries_max,
        )

    def _place_of(
        self, source: file_paths.FileSource, found: FoundFile | None
    ) -> tuple[FileStore, str]:
        if isinstance(source, file_paths.HostFile):
            return self._site.host, source.path
        if found is None or found.digest is None or found.n_bytes is None:
            raise FileMissing(_why_missing(source, found))
        return self._site.kept, f"b{found.batch_id}/{found.digest.hex()}"


class _Telling:
    """Tells how far inputs have come, of those that take their time."""

    def __init__(self, parts: Sequence[Part], tell: Callable[[str], None]) -> None:
        self._parts = parts
        self._tell = tell
        self._told = ""
        self._timer = asyncio.get_running_loop().call_later(_FIRST_S, self._on_time)

    def _on_time(self) -> None:
        if (text := words(self._parts)) != self._told:
            self._told = text
            self._tell(text)
        self._timer = asyncio.get_running_loop().call_later(_EVERY_S, self._on_time)

    def end(self) -> None:
        """Tell nothing more."""
        self._timer.cancel()


async def _counted(pieces: AsyncIterator[bytes], part: Part) -> AsyncIterator[bytes]:
    async with aclosing(pieces):  # type: ignore[type-var]  # it is a generator
        async for piece in pieces:
            part.come += len(piece)
            yield piece


def _source_of(given: FileInput) -> file_paths.FileSource:
    try:
        return file_paths.parse_source(given.from_)
    except file_paths.WrongPath as error:
        raise FileRefused(f"its input {given.from_}: {error}") from error


def _parts(given: FileInput, source: file_paths.FileSource) -> tuple[str, ...]:
    try:
        if given.unpack:
            return (
                ()
                if given.to in {None, ".", "./"}
                else file_paths.parts_of((given.to or "").rstrip("/"))
            )
        return file_paths.target_of(given.to, file_paths.name_of(source))
    except file_paths.WrongPath as error:
        raise FileRefused(str(error)) from error


def _why_missing(source: file_paths.FileSource, found: FoundFile | None) -> str:
    if not isinstance(source, file_paths.JobFile):
        return "the batch has no such file"
    if found is None or found.state is None:
        return "no such job has left it"
    if not JobState(found.state).is_terminal:
        return f"that job is {JobState(found.state).word}"
    return "that job has left no such file"
