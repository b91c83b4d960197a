"""What jobs say about themselves."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct, UnsetType

from weft.core.notes import NoteKind

NoteTitles = Annotated[
    list[str] | UnsetType, Meta(description="of its notes, the newest first; missing: none")
]


class JobNote(Struct, kw_only=True):
    """What a job says about itself."""

    title: str
    kind: NoteKind
    attempt: Annotated[int, Meta(ge=1, description="which said it last")]
    told_at: datetime
    n_bytes: Annotated[int, Meta(ge=0)]
    body: Annotated[str | None, Meta(description="null: it is a picture")]
