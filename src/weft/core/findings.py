"""What somebody has found who looked whether all is well."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "off", "warning", "wrong"]
"""off: nothing is wrong, and something that protects or serves jobs is not there."""


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""
    """The suggested repair; empty if all is well."""
