"""The words about services: how often they were started again, and why (ADR 143)."""

from collections.abc import Mapping
from typing import Any, Final

from weft.core.ends.end_words import explain_reason
from weft.core.text.amounts import counted

UNHEALTHY: Final = 69
"""With which the first process of a service ends after bad answers; the others are those with
which it tells of other ends by a line.
"""
_TOLD: Final = {UNHEALTHY, 75, 127}
_BY_SIGNAL: Final = 128


def service_words(job: Mapping[str, Any]) -> str | None:
    """Return in words when a service is started again, and how often it was; None: it is none."""
    service = job.get("service")
    if service is None:
        return None
    n = max(0, job["attempt"] - 1)
    return f"{service.get('restart', 'always')}, {counted(n, 'restart')}"


def service_end(attempt: Mapping[str, Any]) -> str:
    """Return as a clause why an attempt of a service ended.

    >>> service_end({"state": "failed", "reason": "blocked", "exit_code": 3, "message": "oh"})
    'it ended with exit code 3'
    """
    if attempt.get("reason") != "blocked":
        return f"attempt {attempt['attempt']} ended: {explain_reason(attempt)}"
    code = attempt.get("exit_code")
    lines = (attempt.get("message") or "").strip().splitlines()
    weft, _, said = lines[-1].partition("weft: ") if lines else ("", "", "")
    # Other codes are the program's own, whatever was said last.
    if said and not weft and (code in _TOLD or (code or 0) > _BY_SIGNAL):
        return said.partition(": ")[2] if said.startswith("unhealthy, ") else said
    return "it was not healthy" if code == UNHEALTHY else f"it ended with exit code {code}"
