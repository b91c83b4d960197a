"""What workers outside need to hand a job over: its spec, its secrets, URLs of its files, and
whether its functions may be called. The keys stay here (ADR 125).
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hmac import compare_digest
from typing import Any, Final

import msgspec

from weft.core.bounds import ENTRIES_MAX
from weft.core.errors import WeftError
from weft.core.files.file_paths import StoreFile, WrongPath, parts_of, split_store
from weft.core.files.products import WrongProducts, read_products
from weft.core.states import AttemptKey, Reason
from weft.ports.file_store import Signed, ToSign, UrlSigner
from weft.ports.function_signatures import ChunkKey, FunctionSignatures, Refused, SignedBy
from weft.ports.store import Claimed, KeptFile, StoredSecret
from weft.ports.worker_link import LinkedStore
from weft.wire.documents.files import names_object
from weft.wire.sealed import OpensSecrets
from weft.wire.spec import JobSpec, decode_chunk
from weft_link.seal import LinkSealer
from weft_link.serving.refusals import wrong_frame

_INPUTS_BYTES_MAX: Final = 4 << 20
"""Of the documents of an attempt's inputs."""


@dataclass(frozen=True)
class LinkedHandOver:
    """What an api hands over, with the keys of its home."""

    open_secrets: Callable[[], OpensSecrets]
    signatures: FunctionSignatures | None = None
    """None: there is no store that could be asked."""
    signer: UrlSigner | None = None
    """What opens the stores of tenants."""
    output_files_max: int = 10_000
    """Of one attempt; of the settings."""
    output_bytes_max: int = 1 << 40
    products_max: int = 1000
    product_bytes_max: int = 1 << 20

    async def seal(
        self,
        store: LinkedStore,
        incarnation_id: int,
        wanted: Sequence[tuple[AttemptKey, str]],
        public_key: bytes,
    ) -> Sequence[StoredSecret | None]:
        """Return sealed secrets of live attempts. Raise `LinkFrameRefused`, `SecretKeyMissing`."""
        secrets = await store.get_secrets(incarnation_id, wanted)
        keys = self.open_secrets()

        def sealed() -> Sequence[StoredSecret | None]:
            sealer = LinkSealer(public_key)
            return [secret and _sealed(secret, keys, sealer) for secret in secrets]

        try:
            return await asyncio.to_thread(sealed)
        except ValueError as error:
            raise wrong_frame("its key cannot be sealed for") from error

    async def check(
        self, store: LinkedStore, incarnation_id: int, chunks: Sequence[tuple[ChunkKey, bytes]]
    ) -> Sequence[Refused | None]:
        """Return why the functions of these chunks are not called."""
        assert self.signatures is not None, "the link found a store"
        digests = dict(chunks)
        bodies = await self.chunks(store, incarnation_id, list(digests))
        signers: dict[ChunkKey, SignedBy] = {}
        refused = {
            key: Refused(Reason.SYSTEM, "its spec is not the one that the api has")
            for key, digest in chunks
            if not compare_digest(hashlib.sha256(bodies.get(key, b"")).digest(), digest)
        }
        for key, body in bodies.items():
            signer = self.signatures.signer_of(body, decode_chunk(body))
            if signer is not None:
                signers[key] = signer
        refused.update(await self.signatures.refused(signers))
        return [refused.get(key) for key, _ in chunks]

    async def chunks(
        self, store: LinkedStore, incarnation_id: int, wanted: Iterable[ChunkKey]
    ) -> Mapping[ChunkKey, bytes]:
        """Return those of live attempts, and those that carry what these share."""
        live = await store.list_live(incarnation_id)
        own = {(one.batch_id, one.chunk_first) for one in live}
        asked = set(wanted)
        if others := asked - own:
            batches = {batch_id for batch_id, _ in others}
            own |= await _carriers(store, [one for one in live if one.batch_id in batches])
        return await _get_chunks(store, asked & own)

    async def sign(
        self, store: LinkedStore, incarnation_id: int, key: AttemptKey, wanted: Sequence[ToSign]
    ) -> Sequence[Signed]:
        """Sign for what the job of a live attempt names, and for nothing else."""
        spec = await _spec_of(store, incarnation_id, key)
        if spec is None or self.signer is None:
            return [Signed("", "this server signs nothing for that attempt") for _ in wanted]
        named = [
            names_object(
                spec.inputs,
                spec.outputs,
                is_read=one.is_read,
                file=StoreFile(one.store, one.path),
            )
            for one in wanted
        ]
        good = [one for one, is_named in zip(wanted, named, strict=True) if is_named]
        signed = iter(await self.signer.sign(incarnation_id, key, good) if good else ())
        nothing = Signed("", "its job does not name this object")
        return [next(signed) if is_named else nothing for is_named in named]

    async def check_files(
        self,
        store: LinkedStore,
        incarnation_id: int,
        key: AttemptKey,
        files: Sequence[KeptFile],
        **_: object,
    ) -> None:
        """Check what a worker says that an attempt has left: readers believe it. Raise
        `LinkFrameRefused`.
        """
        spec = await _spec_of(store, incarnation_id, key)
        if spec is None:
            return  # the store tells
        if len(files) > self.output_files_max:
            raise wrong_frame(f"it has more than {self.output_files_max} files")
        for one in files:
            if not _is_left(spec, one):
                raise wrong_frame(f"its job leaves no such file as {one.path[:80]!r}")
        if sum(one.n_bytes for one in files) > self.output_bytes_max:
            raise wrong_frame(f"it has more than {self.output_bytes_max} bytes of files")

    def check_products(
        self, products: Sequence[dict[str, Any]], inputs: Sequence[dict[str, Any]] | None
    ) -> None:
        """Check products as the worker does that reads them, and what an attempt got for them.
        Raise `LinkFrameRefused`.
        """
        try:
            read_products(
                _lines_of(products),
                products_max=self.products_max,
                bytes_max=self.product_bytes_max,
            )
            read_products(
                _lines_of(inputs or ()), products_max=ENTRIES_MAX, bytes_max=_INPUTS_BYTES_MAX
            )
        except (WrongProducts, TypeError, ValueError, RecursionError) as error:
            raise wrong_frame(str(error)) from error


def _lines_of(documents: Iterable[dict[str, Any]]) -> bytes:
    return b"\n".join(map(msgspec.json.encode, documents))


def _is_left(spec: JobSpec, one: KeptFile) -> bool:
    try:
        if one.address is None:
            parts_of(one.path)
            return True
        file = StoreFile(*split_store(one.address))
    except WrongPath:
        return False
    return one.path == one.address == file.address and names_object(
        None, spec.outputs, is_read=False, file=file
    )


async def _spec_of(store: LinkedStore, incarnation_id: int, key: AttemptKey) -> JobSpec | None:
    """Return the spec of a live attempt; None: the worker has it not."""
    live = await store.list_live(incarnation_id)
    firsts = [claimed.chunk_first for claimed in live if claimed.key == key]
    if not firsts:
        return None
    chunk = (key.batch_id, firsts[0])
    bodies = await _get_chunks(store, [chunk])
    return decode_chunk(bodies[chunk])[key.job_id - chunk[1]]


async def _carriers(store: LinkedStore, live: Sequence[Claimed]) -> set[ChunkKey]:
    """Return the chunks that carry what the jobs of these attempts share."""
    bodies = await _get_chunks(store, {(one.batch_id, one.chunk_first) for one in live})
    specs = {key: decode_chunk(body) for key, body in bodies.items()}
    found = set()
    for one in live:
        some = specs.get((one.batch_id, one.chunk_first), ())
        index = one.job_id - one.chunk_first
        shares = some[index].shares if index < len(some) else None
        if shares is not None:
            found.add((one.batch_id, shares if shares > 0 else one.job_id + shares))
    return found


async def _get_chunks(store: LinkedStore, keys: Iterable[ChunkKey]) -> Mapping[ChunkKey, bytes]:
    pairs = list(keys)
    return await store.get_chunks([one for one, _ in pairs], [one for _, one in pairs])


def _sealed(secret: StoredSecret, keys: OpensSecrets, sealer: LinkSealer) -> StoredSecret:
    if secret.body is None:
        return secret
    try:
        return replace(secret, body=sealer.seal(keys.open(secret.body, secret.row), secret.row))
    except WeftError as error:
        why = error.message
    except ValueError as error:
        why = str(error)
    return replace(secret, body=b"", unreadable=why)
