"""Jobs that wait for a person, an event or a date: what stands beside `wait`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from weft.core.errors import InvalidValue
from weft.core.graph.parents import Parent, Parents
from weft.core.graph.positions import Positions
from weft.core.problems import Problems
from weft.settings import Settings
from weft.submission.translation.context import DocumentContext
from weft.wire.documents.batches import JobDocument

FORM_BYTES_MAX: Final = 65_536
_NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
"""In JSON, where a backslash that is text is two."""
NOT_BESIDE: Final = (
    "command", "script", "function", "simulation", "container", "engine", "app", "count",
    "values", "inputs", "outputs", "secrets", "service", "deadline", "not_before", "machine",
    "retry", "retry_on", "retry_with", "timeout_s", "concurrency_key", "rate",
)  # fmt: skip


def wrong_text(form: object) -> str:
    """Return why a form cannot be kept, whatever it asks for; empty: it can."""
    text = b"" if form is None else msgspec.json.encode(form)
    if len(text) > FORM_BYTES_MAX:
        return f"it has more than {FORM_BYTES_MAX} bytes"
    return "it cannot contain NUL" if _NUL.search(text) else ""


def check_wait(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note what does not fit together in a wait."""
    wait = job.wait
    assert wait is not None
    if (wait.for_ == "date") is (wait.until is None):
        problems.add(InvalidValue, f"{at}/wait/until", "for `date`, and only there")
    if wait.for_ == "date" and (wait.form is not None or wait.timeout_s is not None):
        problems.add(InvalidValue, f"{at}/wait", "nobody answers a `date`: leave out the rest")
    if message := wrong_text(wait.form):
        problems.add(InvalidValue, f"{at}/wait/form", message)


def kept_of_wait(job: JobDocument) -> Mapping[str, Any]:
    """Return what is kept, as it was sent."""
    return {"wait": msgspec.to_builtins(job.wait)}


def children_of_answers(
    jobs: Sequence[JobDocument],
    parents: Sequence[Parents],
    positions: Positions,
    context: DocumentContext,
) -> Sequence[int]:
    """Return the entries of which a parent may be answered: a wait of this document, or a job of
    another request, of which nothing is known here.
    """
    waits = {
        positions.firsts[entry]
        for entry, job in enumerate(context.rare(jobs) if parents else ())
        if job.wait is not None and job.wait.for_ != "date"
    }

    def may_be_answered(parent: Parent) -> bool:
        if isinstance(parent, int):
            return parent < positions.first or parent in waits
        return parent.start < positions.first or not waits.isdisjoint(parent)

    if not waits and context.batch_id is None:
        return ()
    return [entry for entry, own in enumerate(parents) if any(map(may_be_answered, own))]
