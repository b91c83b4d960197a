"""What somebody has found who looked whether all is well."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "warning", "wrong"]


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""
    """The suggested repair; empty if all is well."""
