"""Units of resources as people write them."""

import math
import re
from decimal import Decimal, InvalidOperation

_BYTES = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kKMGTP]i?)?B?\s*")
_FACTORS = {
    None: 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
    "ki": 2**10, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50,
}  # fmt: skip
MIB = 2**20
CPU_M_MAX = 100_000_000
BYTES_MAX = 2**50


def parse_bytes(value: int | float | str) -> int:
    """Read bytes.

    A whole number, or `512Mi`, `4Gi`, `1.5G`. Raise `ValueError` for anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not a size")
    if isinstance(value, int | float):
        if not math.isfinite(value) or value < 0 or value > BYTES_MAX or value != int(value):
            raise ValueError(f"{value!r} is not a whole number of bytes from 0 to {BYTES_MAX}")
        return int(value)
    match = _BYTES.fullmatch(value[:40])
    if match is None or match[2] not in _FACTORS:
        raise ValueError(f"{value[:40]!r} is not a size such as 512Mi, 4Gi or 1073741824")
    result = int(Decimal(match[1]) * _FACTORS[match[2]])
    if result > BYTES_MAX:
        raise ValueError(f"{value!r} is more than {BYTES_MAX} bytes")
    return result


def parse_mebibytes(value: int | float | str) -> int:
    """Read a size and round it up to MiB, the unit of account."""
    return -(-parse_bytes(value) // MIB)


def parse_cpu_m(value: int | float | str) -> int:
    """Read cores, `0.25` or `"250m"`, as mCPU. Raise `ValueError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{value!r} is not a number of cores")
    try:
        if isinstance(value, str) and value.endswith("m"):
            cpu_m = Decimal(value[:-1][:20])
        else:
            cpu_m = Decimal(str(value)[:20]) * 1000
    except InvalidOperation:
        raise ValueError(
            f"{str(value)[:40]!r} is not a number of cores such as 2, 0.25 or 250m"
        ) from None
    if not cpu_m.is_finite() or cpu_m <= 0 or cpu_m > CPU_M_MAX:
        raise ValueError(f"{value!r} cores is not above 0 and at most {CPU_M_MAX // 1000}")
    return math.ceil(cpu_m)
