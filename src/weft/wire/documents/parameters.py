"""The documents about parameters of production lines."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.wire.description import says

ParameterTypeWord = Literal["text", "integer", "number", "boolean", "date", "list"]
Text = Annotated[str, Meta(max_length=4000)]
Scalar = Text | int | float | bool
ParameterValue = Scalar | list[Scalar]


class ParameterDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`PUT /v1/parameters/{name}`: what it is from now on."""

    value: Annotated[
        ParameterValue,
        says("A text, a number, true or false, a date as text, or a list of these.", "7d"),
    ]
    type: Annotated[
        ParameterTypeWord | UnsetType,
        says("Of one that is new; without it, as the value is.", "date"),
    ] = UNSET


class LineParameter(Struct, kw_only=True):
    """A version of a parameter of production lines."""

    parameter: str
    version: Annotated[int, Meta(ge=1)]
    type: ParameterTypeWord
    value: ParameterValue
    set_at: datetime
    set_by: str
    setup: Annotated[str | None, Meta(description="whose file has set it; null: a person has")]
