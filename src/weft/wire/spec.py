"""The specification of one job as it is stored and as the worker reads it.

A spec never changes after submission. Many specs are stored together in one compressed value,
a *chunk* (`weft.job_spec`). Only `encode_chunk` and `decode_chunk` know its form.
"""

import zlib

import msgspec


class JobSpec(msgspec.Struct, frozen=True, omit_defaults=True, array_like=False):
    """What an executor needs to run a job. No `command` and no `script`: a no-op that succeeds."""

    command: tuple[str, ...] | None = None
    script: str | None = None
    env: dict[str, str] | None = None
    inherit_env: dict[str, str] | None = None
    """The environment of the caller's shell, of `weft run` and `weft each`.

    Shared by all jobs of a chunk.
    """
    cwd: str | None = None
    stdin: str | None = None
    timeout_s: float | None = None
    executor: str = "process"
    trace_id: str | None = None


class _Chunk(msgspec.Struct, frozen=True, array_like=True):
    """Consecutive specs, and what they all share."""

    inherit_env: dict[str, str] | None
    specs: list[JobSpec]


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Chunk)
CHUNK_JOBS_MAX = 256
"""A worker that claims one job reads its whole chunk, so chunks are small.

256 similar specs compress well.
"""
CHUNK_BYTES_MAX = 256 * 1024
"""Before compression, without what is shared. A longer spec is a chunk of its own."""


def pack_specs(specs: list[JobSpec], inherit_env: dict[str, str] | None = None) -> bytes:
    """Encode the specs of consecutive jobs; `inherit_env` is kept once for all of them."""
    return _ENCODER.encode(_Chunk(inherit_env, specs))


def compress_chunk(packed: bytes) -> bytes:
    """Make a chunk of what `pack_specs` returned."""
    return zlib.compress(packed, 1)


def encode_chunk(specs: list[JobSpec], inherit_env: dict[str, str] | None = None) -> bytes:
    """Make a chunk of the specs of consecutive jobs."""
    return compress_chunk(pack_specs(specs, inherit_env))


def decode_chunk(body: bytes) -> list[JobSpec]:
    """Return the specs in the order of their job numbers. They share one `inherit_env`."""
    chunk = _DECODER.decode(zlib.decompress(body))
    if chunk.inherit_env is None:
        return chunk.specs
    return [msgspec.structs.replace(spec, inherit_env=chunk.inherit_env) for spec in chunk.specs]
