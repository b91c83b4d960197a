"""The specs of claimed jobs, read in chunks. The most recently used chunks are kept. And whether
the api has signed the functions of jobs for the owner of their batch (ADR 60). They are pickles:
what somebody else has put into the database is never handed to a process that reads it.
"""

import time
import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple, Protocol

import msgspec

from weft.core.access.allowed import why_not_allowed
from weft.core.errors import SecretKeyMissing, WeftError
from weft.core.graph.parents import refers_to_earlier
from weft.core.states import AttemptKey, Reason
from weft.ports.function_signatures import ChunkKey, FunctionSignatures, Refused, SignedBy
from weft.ports.patience import until_answered
from weft.ports.runner import Assignment, Ended, GivenSecret, never_started
from weft.ports.store import Claimed, JobUser, ParentAnswer, StoredSecret, WorkerStore
from weft.wire.documents.engines import choices_of
from weft.wire.documents.secrets import SecretUse
from weft.wire.sealed import OpensSecrets, SecretKeys
from weft.wire.signed import CHUNK, NotSigned, Signer, signer_of
from weft.wire.spec import ANSWERS_VARIABLE, JobSpec, have_functions, unpack_specs

_KEYS_FRESH_S: Final = 1.0
_OWNERS_KEPT: Final = 10_000


class FindsOwners(Protocol):
    """The part of the store that is asked."""

    async def list_job_users(self, jobs: Sequence[tuple[int, int]]) -> Sequence[JobUser]:
        """See `WorkerStore`."""


class Signatures:
    """Checks them with the keys; owners of batches are remembered, because they never change. See
    the port `FunctionSignatures`.
    """

    def __init__(
        self, store: FindsOwners, keys: Callable[[], SecretKeys], *, required: bool = True
    ) -> None:
        self._store = store
        self._read_keys = keys
        self._required = required
        self._keys: SecretKeys | None = None
        self._keys_until = 0.0
        self._owners: dict[int, Signer] = {}

    def signer_of(self, body: bytes, specs: Sequence[JobSpec]) -> Signer | Refused | None:
        if not self._required or not have_functions(specs):
            return None
        try:
            return signer_of(CHUNK, body, self._fresh_keys())
        except NotSigned as error:
            return Refused(Reason.BAD_SPEC, f"its function is not called: {error}")
        except WeftError as error:
            why = (
                f"the signature of its function cannot be checked on this worker: {error.message}"
            )
            return Refused(Reason.SYSTEM, why)

    async def refused(self, found: Mapping[ChunkKey, SignedBy]) -> Mapping[ChunkKey, Refused]:
        unknown = {key[0]: key[1] for key in found if key[0] not in self._owners}
        if unknown:
            if len(self._owners) + len(unknown) > _OWNERS_KEPT:
                self._owners.clear()
                unknown = {key[0]: key[1] for key in found}
            for user in await self._store.list_job_users(list(unknown.items())):
                self._owners[user.batch_id] = Signer(user.tenant_id, user.owner_id)
        refused: dict[ChunkKey, Refused] = {}
        for key, signer in found.items():
            if isinstance(signer, Refused):
                refused[key] = signer
            elif signer != self._owners.get(key[0]):
                why = "its function is not called: it was signed for another user"
                refused[key] = Refused(Reason.BAD_SPEC, why)
        return refused

    def _fresh_keys(self) -> SecretKeys:
        """Return the keys, which may be rotated while this worker runs."""
        now = time.monotonic()
        if self._keys is None or now >= self._keys_until:
            self._keys = self._read_keys()
            self._keys_until = now + _KEYS_FRESH_S
        return self._keys


ANSWERS_BYTES_MAX: Final = 100_000
"""Of one attempt: the kernel limits a variable to 128 KiB."""
_Key = tuple[int, int, int]


async def answers_of(store: WorkerStore, attempts: Sequence[_Key]) -> Mapping[_Key, str | Refused]:
    """Return the value of the variable for each of these (batch, job, attempt) that has answers,
    or why there is none.
    """
    rows = await store.list_answers(attempts)
    texts = {(row.batch_id, row.parent_id): row.answer for row in rows if row.answer is not None}
    by_attempt: dict[_Key, list[ParentAnswer]] = {}
    for row in rows:
        answer = row._replace(answer=texts[row.batch_id, row.parent_id])
        by_attempt.setdefault(row[:3], []).append(answer)
    return {key: _variable_of(answers) for key, answers in by_attempt.items()}


def _variable_of(answers: Sequence[ParentAnswer]) -> str | Refused:
    """Return a JSON object by name; by number where a name is missing, that of another parent,
    too, or like a number.
    """
    counts = Counter(row.name for row in answers)
    by_name = {
        row.name
        if row.name and counts[row.name] == 1 and not refers_to_earlier(row.name)
        else f"j{row.parent_id}": msgspec.Raw((row.answer or "").encode())
        for row in answers
    }
    text = msgspec.json.encode(by_name)
    if len(text) <= ANSWERS_BYTES_MAX:
        return text.decode()
    why = f"{len(text)} bytes, of which {ANSWERS_VARIABLE} takes {ANSWERS_BYTES_MAX}"
    return Refused(Reason.BAD_SPEC, f"the answers to its parents have {why}")


_KEPT_BYTES_MAX = 64 << 20
# So many times as large as packed is a spec in memory, at most; compressed it says nothing.
_BLOW_UP = 11
CHUNKS_A_PART: Final = 128
"""A chunk holds up to 256 KiB, or one spec of any size."""


class _Chunk(NamedTuple):
    size: int
    """In memory, about."""
    specs: Sequence[JobSpec]
    signer: SignedBy | None
    """See `FunctionSignatures.signer_of`."""


class Specs:
    """Read chunks through the store, each once while it is in use."""

    def __init__(self, store: WorkerStore, signatures: FunctionSignatures) -> None:
        self._store = store
        self._signatures = signatures
        self._chunks: OrderedDict[ChunkKey, _Chunk] = OrderedDict()
        self._bytes = 0

    async def read(self, claimed: Sequence[Claimed]) -> list[JobSpec | Refused | None]:
        """Return the spec of each job; `None` where the database has none, and why its function is
        not called where that is so.
        """
        for one in claimed:
            if one.chunk is not None:
                self._keep((one.batch_id, one.chunk_first), one.chunk)
        keys = {(one.batch_id, one.chunk_first) for one in claimed}
        await self._fetch(keys)
        specs = [self._spec_of(one) for one in claimed]
        signed = self._signed(keys)
        self._drop(signed)
        specs = await self._with_limits(claimed, specs)
        barred = await self._add_answers(claimed, specs)
        barred |= await self._barred(claimed, specs)
        if refused := await self._signatures.refused(signed) if signed else {}:
            for index, (one, spec) in enumerate(zip(claimed, specs, strict=True)):
                key = one.batch_id, one.chunk_first
                if key in refused and spec is not None and spec.function is not None:
                    barred[index] = refused[key]
        return [barred.get(index, spec) for index, spec in enumerate(specs)]

    async def read_shared(self, keys: AbstractSet[ChunkKey]) -> dict[ChunkKey, JobSpec | Refused]:
        """Return the specs of jobs that others share, by batch and job: each is the first of its
        chunk. Specs that the database does not have are left out.
        """
        await self._fetch(keys)
        found: dict[ChunkKey, JobSpec | Refused] = {
            key: self._chunks[key].specs[0] for key in keys if key in self._chunks
        }
        for key in found:
            self._chunks.move_to_end(key)
        signed = self._signed(keys)
        self._drop(signed)
        return {**found, **await self._signatures.refused(signed)} if signed else found

    def _signed(self, keys: AbstractSet[ChunkKey]) -> dict[ChunkKey, SignedBy]:
        """Return who signed the chunks with functions."""
        chunks = ((key, self._chunks[key].signer) for key in keys if key in self._chunks)
        return {key: signer for key, signer in chunks if signer is not None}

    async def _with_limits(
        self, claimed: Sequence[Claimed], specs: list[JobSpec | None]
    ) -> list[JobSpec | None]:
        """Return the specs with the time limits of these attempts: a retry may have more."""
        again = {
            (one.batch_id, one.job_id, one.attempt): index
            for index, (one, spec) in enumerate(zip(claimed, specs, strict=True))
            if one.attempt > 1 and spec is not None and spec.timeout_s is not None
        }
        if again:
            for key, limit_ms in (await self._store.list_time_limits(list(again))).items():
                spec = specs[again[key]]
                assert spec is not None
                specs[again[key]] = msgspec.structs.replace(spec, timeout_s=limit_ms / 1000)
        return specs

    async def _add_answers(
        self, claimed: Sequence[Claimed], specs: list[JobSpec | None]
    ) -> dict[int, Refused]:
        """Put the answers to their parents into the environments of jobs that have such; return
        by index why that cannot be done.
        """
        indices = {
            (job.batch_id, job.job_id, job.attempt): index
            for index, (job, spec) in enumerate(zip(claimed, specs, strict=True))
            if spec is not None and spec.answers
        }
        barred: dict[int, Refused] = {}
        texts = await answers_of(self._store, list(indices)) if indices else {}
        for key, text in texts.items():
            index = indices[key]
            spec = specs[index]
            assert spec is not None
            if isinstance(text, Refused):
                barred[index] = text
            else:
                env = {**(spec.env or {}), ANSWERS_VARIABLE: text}
                specs[index] = msgspec.structs.replace(spec, env=env)
        return barred

    async def _barred(
        self, claimed: Sequence[Claimed], specs: Sequence[JobSpec | None]
    ) -> dict[int, Refused]:
        """Return by index which jobs choose what their tenant does not allow any more."""
        choosing = {
            index: choices
            for index, spec in enumerate(specs)
            if spec is not None and (choices := [*choices_of(spec.container, spec.engine)])
        }
        if not choosing:
            return {}
        batches = sorted({claimed[index].batch_id for index in choosing})
        allowed = await self._store.list_choices(batches)
        found = {}
        for index, choices in choosing.items():
            own = allowed.get(claimed[index].batch_id, {})
            whys = (why_not_allowed(own, kind, value) for _, kind, value in choices)
            if why := next(filter(None, whys), None):
                found[index] = Refused(Reason.BAD_SPEC, why)
        return found

    async def _fetch(self, keys: AbstractSet[ChunkKey]) -> None:
        wanted = [key for key in keys if key not in self._chunks]
        if wanted:
            bodies = await self._store.get_chunks(
                [key[0] for key in wanted], [key[1] for key in wanted]
            )
            for key, body in bodies.items():
                self._keep(key, body)

    def _keep(self, key: ChunkKey, body: bytes) -> None:
        if key not in self._chunks:
            packed = zlib.decompress(body)
            specs, size = unpack_specs(packed), len(packed) * _BLOW_UP
            self._chunks[key] = _Chunk(size, specs, self._signatures.signer_of(body, specs))
            self._bytes += size

    def _spec_of(self, claimed: Claimed) -> JobSpec | None:
        key = (claimed.batch_id, claimed.chunk_first)
        if key not in self._chunks:
            return None
        self._chunks.move_to_end(key)
        specs = self._chunks[key].specs
        index = claimed.job_id - claimed.chunk_first
        return specs[index] if index < len(specs) else None

    def _drop(self, signed: Mapping[ChunkKey, SignedBy]) -> None:
        """Forget what could not be checked, because the key may come, and what is oldest."""
        for key, signer in signed.items():
            if isinstance(signer, Refused) and signer.reason == Reason.SYSTEM:
                self._bytes -= self._chunks.pop(key).size
        while self._bytes > _KEPT_BYTES_MAX and self._chunks:
            _, chunk = self._chunks.popitem(last=False)
            self._bytes -= chunk.size


def parts_of(claimed: Sequence[Claimed]) -> Iterator[Sequence[Claimed]]:
    """Split the claimed jobs into parts whose specs fit in memory."""
    keys: set[ChunkKey] = set()
    begin = 0
    for index, one in enumerate(claimed):
        keys.add((one.batch_id, one.chunk_first))
        if len(keys) > CHUNKS_A_PART:
            yield claimed[begin:index]
            keys = {(one.batch_id, one.chunk_first)}
            begin = index
    yield claimed[begin:] if begin else claimed


def definer_of(claimed: Claimed, spec: JobSpec | Refused | None) -> ChunkKey:
    """Return the job that carries what this job leaves out or shares with its chunk: the first
    job of the chunk.
    """
    if not isinstance(spec, JobSpec) or spec.shares is None:
        return claimed.batch_id, claimed.chunk_first
    return claimed.batch_id, spec.shares if spec.shares > 0 else claimed.job_id + spec.shares


class JobSecrets:
    """What attempts of one incarnation are given. Nothing is kept between two attempts."""

    def __init__(
        self, store: WorkerStore, incarnation_id: int, keys: Callable[[], OpensSecrets]
    ) -> None:
        self._store = store
        self._incarnation_id = incarnation_id
        self._keys = keys

    async def give(self, assignments: Sequence[Assignment]) -> Sequence[Assignment | Ended]:
        """Return each attempt with its secrets, or how it ends without them."""
        wanted = [(one.key, use.name) for one in assignments for use in one.spec.secrets or ()]
        try:
            stored = await until_answered(
                lambda: self._store.get_secrets(self._incarnation_id, wanted)
            )
            keys = self._keys()
        except SecretKeyMissing as error:  # here, or at the api that opens them for this worker
            return [_ended(one.key, Reason.SYSTEM, error.message) for one in assignments]
        rest = iter(stored)
        return [_given(one, keys, rest) for one in assignments]


def _given(
    assignment: Assignment, keys: OpensSecrets, rest: Iterator[StoredSecret | None]
) -> Assignment | Ended:
    uses = assignment.spec.secrets or ()
    stored = [next(rest) for _ in uses]
    values: list[GivenSecret] = []
    for use, secret in zip(uses, stored, strict=True):
        if secret is None:
            return _ended(assignment.key, Reason.PREEMPTED, "another worker has it")
        if secret.body is None:
            why = f"its user has no secret {use.name!r} any more"
            return _ended(assignment.key, Reason.BAD_SPEC, why)
        value = _opened(use, secret, keys)
        if isinstance(value, str):
            return _ended(assignment.key, Reason.SYSTEM, value)
        values.append(value)
    return msgspec.structs.replace(assignment, secrets=values)


def _opened(use: SecretUse, secret: StoredSecret, keys: OpensSecrets) -> GivenSecret | str:
    """Return a secret, or why it cannot be decrypted."""
    assert secret.body is not None
    if secret.unreadable:
        return f"its secret {use.name!r} cannot be decrypted by the api: {secret.unreadable}"
    try:
        return GivenSecret(use, keys.open(secret.body, secret.row))
    except WeftError as error:
        why = error.message
    except ValueError as error:
        why = str(error)
    return f"its secret {use.name!r} cannot be decrypted on this worker: {why}"


def _ended(key: AttemptKey, reason: Reason, message: str) -> Ended:
    return never_started(key, reason, now_ns=time.monotonic_ns(), message=message)
