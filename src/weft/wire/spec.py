"""The specification of one job as it is stored and as the worker reads it.

A spec never changes after submission. Many specs are stored together in one compressed value, a *chunk*
(`weft.job_spec`); `encode_chunk` and `decode_chunk` are the only code that knows its form.
"""

import zlib
from collections.abc import Sequence

import msgspec


class JobSpec(msgspec.Struct, frozen=True, omit_defaults=True, array_like=False):
    """What an executor needs to run a job. No `command` and no `script`: a no-op that succeeds."""

    command: tuple[str, ...] | None = None
    script: str | None = None
    env: dict[str, str] | None = None
    inherit_env: dict[str, str] | None = None
    """The environment of the caller's shell, of `weft run` and `weft each`; shared by all jobs of a chunk."""
    cwd: str | None = None
    stdin: str | None = None
    timeout_s: float | None = None
    executor: str = "process"
    trace_id: str | None = None


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[JobSpec])
CHUNK_JOBS_MAX = 256
"""A worker that claims one job reads its whole chunk, so chunks are small; 256 similar specs compress well."""


def encode_chunk(specs: Sequence[JobSpec]) -> bytes:
    """Compress the specs of consecutive jobs."""
    return zlib.compress(_ENCODER.encode(specs), 1)


def decode_chunk(body: bytes) -> list[JobSpec]:
    """Return the specs in the order of their job numbers."""
    return _DECODER.decode(zlib.decompress(body))
