"""The answers about why jobs wait."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.core.states import JobStateWord
from weft.wire.answers.field_types import Door, ForeignId, GroupStateWord


class WaitCause(Struct, kw_only=True):
    """Something that would have to change for a job to run, or what became of it."""

    kind: Annotated[str, Meta(examples=["hold", "parent", "busy", "too_large", "not_before"])]
    text: Annotated[str, Meta(description="words that follow the name of the job or group")]
    command: Annotated[
        str | None, Meta(description="changes it, or shows more; null: there is nothing to do")
    ]
    job_id: Annotated[
        int | None,
        Meta(description="the job of a group of which this is said; null: what was asked for"),
    ]


_ORDER = Meta(description="what is first to change first; empty: it will start in a moment")


class _Came(Struct, kw_only=True):
    """Whose it is elsewhere, and what it runs."""

    door: Door = UNSET
    foreign_id: ForeignId = UNSET
    app: Annotated[
        str | UnsetType, Meta(description="the application that it runs; missing if none")
    ] = UNSET


class JobWhy(_Came, kw_only=True):
    """Why a job waits, what it does, or what became of it."""

    batch_id: int
    job_id: int
    state: JobStateWord
    causes: Annotated[list[WaitCause], _ORDER]


class GroupWhy(_Came, kw_only=True):
    """Why jobs of a batch or a group wait; a few of them stand for the others."""

    batch_id: int
    name: Annotated[str, Meta(description="as commands name it")]
    state: GroupStateWord
    causes: Annotated[list[WaitCause], _ORDER]
