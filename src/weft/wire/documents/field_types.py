"""The types of fields that documents of several subjects have."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from weft.wire.description import END, says

PositiveInt = Annotated[int, Meta(ge=1, le=2_000_000_000)]
"""Fits the database's `integer`."""
JobCount = Annotated[int, Meta(ge=0, le=2_000_000_000)]
GroupCount = Annotated[int, Meta(ge=0, le=100_000_000)]
Index = Annotated[int, Meta(ge=0, le=2_000_000_000)]
Priority = Annotated[int, Meta(ge=-1000, le=1000)]
MaxAttempts = Annotated[int, Meta(ge=1, le=100)]
Seconds = Annotated[float, Meta(gt=0, le=31_536_000)]
Umask = Annotated[str, Meta(pattern="^0?[0-7]{3}" + END)]
Moment = Annotated[datetime, Meta(tz=True)]
GroupKind = Literal["tree", "set"]
RelativeNumber = Annotated[int, Meta(ge=-2_000_000_000, le=2_000_000_000)]
ATTRIBUTES = says(
    "Labels by which queries find it: text keys and text values.", {"cohort": "scz1"}
)
CALLBACK = says(
    "URL that gets a POST with the document whenever the last job has ended.",
    "https://example.org/done",
)
CANCEL_AFTER = says("Cancel what is left as soon as this number of jobs has failed.", 10)
