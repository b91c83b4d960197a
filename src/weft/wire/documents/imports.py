"""The documents about jobs that have ended elsewhere."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.wire.description import END, says
from weft.wire.documents.users import Name

IMPORTED_MAX = 200
"""Jobs of one request."""


class ImportedJob(Struct, forbid_unknown_fields=True, kw_only=True):
    """A job that has ended in another system."""

    id: Annotated[
        str,
        Meta(min_length=1, max_length=64),
        says("Its id there, by which the door finds it.", "1-007"),
    ]
    user: Annotated[Name, says("Its owner, a user of the tenant.", "ann")]
    name: Annotated[str | None, says("Its name.", "count")] = None
    created_at: Annotated[
        datetime, Meta(tz=True), says("When it was submitted.", "2024-05-01T10:00:00Z")
    ]
    ended_at: Annotated[datetime, Meta(tz=True), says("When it ended.", "2024-05-01T10:05:00Z")]
    kind: Annotated[
        Annotated[str, Meta(max_length=1024)] | None,
        says("What its door's clients search for beside names, exactly.", "count-1.0"),
    ] = None
    document: Annotated[dict[str, Any], says("What its door shows of it.", {"name": "count"})]


class ImportDocument(Struct, forbid_unknown_fields=True, kw_only=True):
    """`POST /v1/imports`: jobs that have ended in another system."""

    door: Annotated[
        str,
        Meta(pattern=r"^[a-z][a-z0-9-]{0,31}" + END),
        says("The door that will show them.", "line"),
    ]
    jobs: Annotated[
        list[ImportedJob], Meta(min_length=1, max_length=IMPORTED_MAX), says("The jobs.")
    ]
    check: Annotated[bool, says("Only say what is wrong, and change nothing.")] = False


class Imported(Struct, kw_only=True):
    """What became of the jobs of an import."""

    n_new: Annotated[int, Meta(ge=0, description="jobs that were taken over")]
    n_known: Annotated[int, Meta(ge=0, description="jobs that were imported before")]
