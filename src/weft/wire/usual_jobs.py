"""Documents whose jobs have only the fields that most jobs have.

A struct costs for each of its fields, whether it is given or not. So a document is decoded with
the few fields first, and as a whole if it has another one: a field that a document does not use
costs it nothing.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec

from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.jobs import JobDocument
from weft.wire.documents.updates import JobBunch, UpdateDocument
from weft.wire.spec import JobSpec

USUAL_FIELDS: Final = frozenset(
    {
        "command",
        "script",
        "name",
        "env",
        "cwd",
        "stdin",
        "resources",
        "timeout_s",
        "always_run",
        "parents",
        "group",
        "groups",
        "priority",
        "attributes",
        "max_attempts",
        "retry_on",
        "index_from",
        "umask",
    }
)
"""Of jobs, for which every document is looked at."""


def _narrowed(kind: type[msgspec.Struct], names: Collection[str]) -> Any:  # noqa: ANN401 (a class)
    """Return a struct with some fields of another, which reads and is encoded like it: all other
    fields have their defaults.
    """
    found = msgspec.structs.fields(kind)
    return msgspec.defstruct(
        f"Usual{kind.__name__}",
        [(one.name, one.type, one.default) for one in found if one.name in names],
        namespace={one.name: one.default for one in found if one.name not in names},
        forbid_unknown_fields=True,
        omit_defaults=True,
        gc=False,
    )


UsualJob: Final = _narrowed(JobDocument, USUAL_FIELDS)
UsualJob.array_size = None
UsualSpec: Final = _narrowed(JobSpec, {*USUAL_FIELDS, "trace_id"})
"""What such a job needs to run."""


def _of_usual_jobs(kind: type[msgspec.Struct]) -> type[msgspec.Struct]:
    (jobs,) = (one for one in msgspec.structs.fields(kind) if one.name == "jobs")
    of_them: Any = list.__class_getitem__(UsualJob)
    field = msgspec.field() if jobs.required else msgspec.field(default_factory=list)
    return msgspec.defstruct(
        f"Usual{kind.__name__}", [("jobs", of_them, field)], bases=(kind,), kw_only=True
    )


USUAL_KINDS: Final[Mapping[Any, type[msgspec.Struct]]] = {
    kind: _of_usual_jobs(kind) for kind in (BatchDocument, UpdateDocument, JobBunch)
}
"""How these documents are decoded first. Their types bound how deep they are."""
