"""The answers about setups of production lines."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from weft.wire.answers.lifecycles import Words
from weft.wire.answers.sources import SourceTried


class Setup(Struct, kw_only=True):
    """The file of a production line."""

    setup: str
    document: Annotated[str, Meta(description="TOML, as it came")]
    saved_at: datetime
    saved_by: str
    lifecycles: Annotated[Words, Meta(description="the names of those that it has")]


class SetupSaved(Struct, kw_only=True):
    """A setup that was saved."""

    setup: str
    changed: Annotated[
        Words,
        Meta(
            description="its lifecycles that are new or changed, `source NAME`, `sink NAME`, "
            "`parameter NAME`"
        ),
    ]


class SetupChange(Struct, kw_only=True):
    """A part of a setup that would be another one."""

    kind: Literal["create", "change", "delete"]
    part: Annotated[str, Meta(description="such as `source scenes`")]
    fields: Annotated[
        dict[str, list[Any]], Meta(description="before and after; null: it has no such field")
    ]


class TriedMessage(Struct, kw_only=True):
    """What a sink would be told."""

    sink: str
    to: Annotated[dict[str, str], Meta(description="where it would go")]
    message: str | None
    error: Annotated[str | None, Meta(description="why there would be none")]


class LineSourceTried(SourceTried, kw_only=True):
    """What would become of one item of a source."""

    messages: Annotated[list[TriedMessage], Meta(description="if its job ended well")]


class SetupTried(Struct, kw_only=True):
    """What a setup would change and make."""

    setup: str
    changes: list[SetupChange]
    sources: list[LineSourceTried]


class SetupRemoved(Struct, kw_only=True):
    """A setup that is forgotten."""

    setup: str
