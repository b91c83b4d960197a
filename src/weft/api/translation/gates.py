"""Fields of batches and jobs that are gates.

A new kind is an entry here, beside its field in the documents (ADR 20).
"""

from collections.abc import Callable, Mapping
from datetime import UTC
from typing import Any, Final

from weft.ports.store import Gate
from weft.wire.documents import BatchDocument, JobDocument

GateOf = Callable[[Any], Gate]
BATCH_GATES: Final[Mapping[str, GateOf]] = {
    "max_running": lambda n: Gate(kind="max_running", max_places=n),
}
"""The document of a batch shows them again under their kinds."""
JOB_GATES: Final[Mapping[str, GateOf]] = {
    "not_before": lambda at: Gate(
        kind="not_before", key=at.astimezone(UTC).isoformat(), opens_at=at
    ),
    "concurrency_key": lambda limit: Gate(
        kind="concurrency_key", key=limit.key, shared=True, max_places=limit.n, relimit=True
    ),
}
"""Rare fields of jobs that are gates as well."""


def batch_gates(document: BatchDocument) -> list[Gate]:
    """Return the gates that all jobs of a batch have to pass."""
    return _gates(BATCH_GATES, document)


def job_gates(document: JobDocument) -> list[Gate]:
    """Return the gates of one job, beside those of its batch."""
    return _gates(JOB_GATES, document)


def _gates(kinds: Mapping[str, GateOf], document: object) -> list[Gate]:
    given = ((of, getattr(document, field)) for field, of in kinds.items())
    return [of(value) for of, value in given if value is not None]
