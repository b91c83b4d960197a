"""Payloads: large arguments of functions, stored in the database in parts.

A payload belongs to a batch and is found by the SHA-256 of its bytes.
"""

import re
from typing import Final

PART_BYTES: Final = 4 << 20
"""All parts but the last have this size: never more of a payload is in the memory of the api or
of an agent.
"""
DIGEST: Final = re.compile("[0-9a-f]{64}")


def parts_of(n_bytes: int) -> int:
    """Return how many parts a payload of that many bytes has."""
    return -(-n_bytes // PART_BYTES)


def bytes_of_part(part: int, n_bytes: int) -> int:
    """Return the size of a part, counted from 1; 0: there is no such part."""
    return max(0, min(PART_BYTES, n_bytes - (part - 1) * PART_BYTES)) if part > 0 else 0
