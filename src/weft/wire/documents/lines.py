"""The documents about production lines: statuses of jobs, sources, sinks and parameters."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from weft.wire.description import EVALUATED, says


class MessageDecision(Struct, forbid_unknown_fields=True):
    """What becomes of a message that a check has stopped."""

    decision: Annotated[
        Literal["pass", "drop"],
        says("`pass`: it is sent all the same. `drop`: it is never sent.", "pass"),
    ]


class GivenUpDecision(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/sinks/{sink}/given-up`: what becomes of messages that were given up."""

    decision: Annotated[
        Literal["send", "drop"],
        says("`send`: they are tried again at once. `drop`: they are counted no more.", "send"),
    ]
    dry_run: Annotated[bool, says("Only count.")] = False


class SetupTrial(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/setups/{setup}/trial`: a file that is tried, and kept nowhere."""

    document: Annotated[
        Annotated[str, EVALUATED, Meta(max_length=1 << 20)],
        says("The file, in TOML.", "[job.a]\ncommand = 1"),
    ]
    read: Annotated[
        bool, says("Whether its sources are read, to show the job and messages of an item.")
    ] = True
    item: Annotated[
        dict[str, Any] | None,
        says("The fields of an item, with its `key`, instead of what a source reads."),
    ] = None
    product: Annotated[
        dict[str, Any] | None, says("A product of the job, for messages that are made of some.")
    ] = None


class StatusDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/jobs/{j}/status`: what it is from now on."""

    status: Annotated[str, says("A status of its lifecycle.", "error_checked")]
    message: Annotated[
        Annotated[str, Meta(max_length=1024)] | None, says("Why, for its history.", "seen")
    ] = None


class SeriesRerun(Struct, forbid_unknown_fields=True):
    """Which items of a series are decided again."""

    series: Annotated[str, says("The key of the series.", "32TLR")]
    since: Annotated[
        str | int | float,
        says(
            "Those that stand there or later: a date or a number, as the items have it. A date "
            "without a zone is in UTC.",
            "2027-04-01",
        ),
    ] = field(name="from")


class SourceEdit(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`PATCH` of a source: a JSON merge patch (RFC 7396). A missing field stays unchanged."""

    paused: Annotated[
        bool | UnsetType, says("Whether it is paused: not read, and its items get no jobs.")
    ] = UNSET
    replay_since: Annotated[
        Annotated[datetime, Meta(tz=True)] | UnsetType,
        says(
            "What it found since then becomes jobs once more, and it is read again from the "
            "beginning.",
            "2027-01-01T00:00:00Z",
        ),
    ] = UNSET
    replay_item: Annotated[
        str | UnsetType, says("The item of this key becomes a job once more.", "S2A_32TLR")
    ] = UNSET


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
