"""The specs of jobs that are copied to another batch, in chunks of their new numbers.

A job may share the function that another one carries. Where a new chunk begins, its first job
carries the function that the jobs of the chunk share, so that none refers to another chunk.

Signatures of functions that are copied: new specs are signed for whoever signed the old ones
(ADR 60). What has no good signature gets none here.
"""

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from weft.ports.store import JobRows
from weft.wire.sealed import SecretKeys
from weft.wire.signed import CHANGED_VARIABLES, CHUNK, NotSigned, sign, signer_of
from weft.wire.spec import (
    CHUNK_BYTES_MAX,
    CHUNK_JOBS_MAX,
    FunctionSpec,
    JobSpec,
    compress_chunk,
    pack_specs,
)

SPEC_CHANGES: Final = ("env", "timeout_s")
"""What of a spec a resubmission may change."""


class Copied(NamedTuple):
    """A spec, and the job of the old batch that carries its function; None: it needs none."""

    spec: JobSpec
    carrier: int | None


def changed_spec(spec: JobSpec, changes: Mapping[str, Any]) -> JobSpec:
    """Return a spec with other variables of its environment, or another time limit."""
    given = {name: changes[name] for name in SPEC_CHANGES if name in changes}
    if "env" in given:
        given["env"] = {**(spec.env or {}), **given["env"]}
    return replace(spec, **given) if given else spec


def carrier_of(spec: JobSpec, job_id: int) -> int | None:
    """Return the job that carries the pickled function of this one, perhaps itself; None: none."""
    if spec.shares is not None:
        return spec.shares if spec.shares > 0 else job_id + spec.shares
    return None if spec.function is None or spec.function.pickle is None else job_id


def carrying(spec: JobSpec, carrier: JobSpec | None) -> JobSpec:
    """Return the spec with the function that its carrier has."""
    if spec.shares is None or spec.function is None:
        return spec
    found = carrier.function if carrier is not None else None
    if found is None:
        return spec
    function: FunctionSpec = replace(
        spec.function,
        pickle=found.pickle,
        python=found.python,
        path=found.path,
        interpreter=found.interpreter,
        directory=found.directory,
    )
    return replace(spec, function=function, shares=None)


def pack_copied(
    jobs: Sequence[Copied], carriers: Mapping[int, JobSpec]
) -> Iterator[tuple[int, bytes]]:
    """Yield the chunks of consecutive jobs: their numbers of jobs, and what is stored.

    `carriers`: the specs of the jobs that carry functions.
    """
    start = 0
    for end in range(1, len(jobs) + 1):
        if end < len(jobs) and end - start < CHUNK_JOBS_MAX and _alike(jobs[start], jobs[end]):
            continue
        yield from _packed(jobs[start:end], carriers)
        start = end


def _alike(one: Copied, other: Copied) -> bool:
    return one.carrier == other.carrier and one.spec.inherit_env == other.spec.inherit_env


def _packed(
    jobs: Sequence[Copied], carriers: Mapping[int, JobSpec]
) -> Iterator[tuple[int, bytes]]:
    first = jobs[0]
    specs = [replace(job.spec, inherit_env=None) for job in jobs]
    if first.carrier is not None:
        specs = [
            carrying(spec, carriers.get(first.carrier)) if n == 0 else _sharing(spec, n)
            for n, spec in enumerate(specs)
        ]
    packed = pack_specs(specs, first.spec.inherit_env)
    if len(packed) > CHUNK_BYTES_MAX and len(jobs) > 1:
        half = len(jobs) // 2
        yield from _packed(jobs[:half], carriers)
        yield from _packed(jobs[half:], carriers)
        return
    yield len(jobs), compress_chunk(packed)


def _sharing(spec: JobSpec, n_before: int) -> JobSpec:
    """Return the spec of a job that shares the function of the first of its chunk."""
    if spec.function is None:
        return spec
    return replace(spec, function=replace(spec.function, pickle=None), shares=-n_before)


Keys = Callable[[], SecretKeys]
"""Reads the keys of this installation."""


def sign_copies(
    rows: JobRows, originals: Sequence[bytes], changes: Mapping[str, Any], keys: Keys
) -> None:
    """Sign these rows if all original chunks with functions, and variables that are changed, were
    signed for one user. Raise `SecretKeyMissing` if a key that signed them is not here.
    """
    if not originals:
        return
    held = keys()
    with suppress(NotSigned):
        signers = {signer_of(CHUNK, body, held) for body in originals}
        if "env" in changes:
            signers.add(signer_of(CHANGED_VARIABLES, _signed_env(changes), held))
        if len(signers) == 1:
            (signer,) = signers
            rows.chunk_body = [sign(CHUNK, body, signer, held) for body in rows.chunk_body]


def _signed_env(changes: Mapping[str, Any]) -> bytes:
    body = msgspec.json.encode(changes["env"], order="sorted")
    try:
        return body + base64.b64decode(changes.get("env_signature", ""), validate=True)
    except (binascii.Error, TypeError):
        raise NotSigned("its signature is malformed") from None
