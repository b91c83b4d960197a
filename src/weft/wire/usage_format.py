"""The format of stored samples of what an attempt uses: a file beside its output."""

import struct
from pathlib import Path
from typing import Final, NamedTuple

_SAMPLE: Final = struct.Struct("!QQQ")
SAMPLE_BYTES: Final = _SAMPLE.size
_SUFFIX: Final = ".usage"


class UsageSample(NamedTuple):
    """What an attempt has used until some moment."""

    at_ms: int
    """Since its start, by a monotonic clock."""
    cpu_ms: int
    """CPU time of all its processes since its start."""
    memory_bytes: int
    """What its processes have in memory now. What two of them share is counted twice."""


def encode_sample(sample: UsageSample) -> bytes:
    """Return a sample as it is stored."""
    return _SAMPLE.pack(*sample)


def decode_samples(data: bytes) -> list[UsageSample]:
    """Return the samples of a file; a torn one at its end is left out."""
    whole = len(data) - len(data) % SAMPLE_BYTES
    return [UsageSample(*one) for one in _SAMPLE.iter_unpack(data[:whole])]


def usage_path(own: Path | str) -> str:
    """Return the file of samples beside the attempt's own file of output."""
    return f"{own}{_SUFFIX}"
