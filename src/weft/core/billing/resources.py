"""Units of resources as people write them."""

import math
import re
from decimal import Decimal, InvalidOperation

_BYTES = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*([kmgtp]i?)?b?\s*", re.IGNORECASE)
_FACTORS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "p": 10**15,
    "ki": 2**10,
    "mi": 2**20,
    "gi": 2**30,
    "ti": 2**40,
    "pi": 2**50,
}
MIB = 2**20
CPU_M_MAX = 100_000_000
BYTES_MAX = 2**50


def parse_bytes(value: int | float | str) -> int:
    """Read bytes.

    A whole number, or `512Mi`, `4gi`, `1.5G` in upper or lower case. Raise `ValueError` for
    anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not a size")
    if isinstance(value, int | float) and value < 0:
        raise ValueError(f"a size cannot be negative: {value!r}")
    if isinstance(value, int | float):
        if not 0 <= value <= BYTES_MAX or value != int(value):
            raise ValueError(f"{value!r} is not a whole number of bytes from 0 to {BYTES_MAX}")
        return int(value)
    match = _BYTES.fullmatch(value[:40])
    if match is None:
        raise ValueError(f"{value[:40]!r} is not a size such as 512Mi, 4Gi or 1073741824")
    if match[1].startswith("-"):
        raise ValueError(f"a size cannot be negative: {value!r}")
    result = int(Decimal(match[1]) * _FACTORS[(match[2] or "").lower()])
    if result > BYTES_MAX:
        raise ValueError(f"{value!r} is more than {BYTES_MAX} bytes")
    return result


def parse_large_bytes(value: int | float | str) -> int:
    """Read bytes of memory or storage.

    A number without a unit counts bytes. One that is less than a MiB was meant otherwise:
    elsewhere it counts MiB or GiB. Raise `ValueError` for that, too.
    """
    size = parse_bytes(value)
    if 0 < size < MIB and not str(value).strip()[-1:].isalpha():
        given = str(value).strip()
        raise ValueError(
            f'{given} has no unit: write "{given}Mi" or "{given}Gi"; a number alone counts bytes'
        )
    return size


def parse_mebibytes(value: int | float | str) -> int:
    """Read the size of a job and round it up to MiB, the unit of account. Raise `ValueError` as
    `parse_large_bytes`.
    """
    return -(-parse_large_bytes(value) // MIB)


def parse_memory_mib(value: int | float | str) -> int:
    """Read the memory of a job as MiB. Raise `ValueError` for none."""
    memory_mib = parse_mebibytes(value)
    if not memory_mib:
        raise ValueError("a job cannot run in no memory: ask for more than 0, such as 512Mi")
    return memory_mib


def parse_cpu_m(value: int | float | str) -> int:
    """Read cores, `0.25` or `"250m"`, as mCPU. Raise `ValueError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not a number of cores")
    try:
        if isinstance(value, str) and value.endswith("m"):
            cpu_m = Decimal(value[:-1][:20])
        else:
            cpu_m = Decimal(str(value)[:20])
            cpu_m = cpu_m * 1000 if cpu_m < CPU_M_MAX else Decimal("inf")
    except InvalidOperation:
        raise ValueError(
            f"{str(value)[:40]!r} is not a number of cores such as 2, 0.25 or 250m"
        ) from None
    if cpu_m.is_finite() and cpu_m < 0:
        raise ValueError(f"a number of cores cannot be negative: {value!r}")
    if not cpu_m:
        raise ValueError("a job cannot run on no cores: ask for more than 0, such as 0.25")
    if cpu_m.is_nan():
        raise ValueError(f"{str(value)[:40]!r} is not a number of cores")
    if not cpu_m.is_finite() or cpu_m > CPU_M_MAX:
        raise ValueError(f"{value!r} cores is more than {CPU_M_MAX // 1000}")
    return math.ceil(cpu_m)
