"""What a tenant lets its jobs choose, by lists of patterns."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase


def why_not_allowed(allowed: Mapping[str, Sequence[str]], kind: str, value: str) -> str | None:
    """Return why a job may not choose this; None: it may, as anything of a kind without a list."""
    patterns = allowed.get(kind)
    if patterns is None or any(fnmatchcase(value, pattern) for pattern in patterns):
        return None
    may = ", ".join(patterns) or "none"
    return f"the tenant does not allow its jobs the {kind} {value}; allowed: {may}"
