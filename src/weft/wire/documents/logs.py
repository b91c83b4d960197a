"""What a job says about its output."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import END, says
from weft.wire.documents.secrets import VariableName

_LEVEL = Meta(pattern=r"^[A-Za-z0-9_]{1,32}" + END)


class LogDocument(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How much of a job's output is kept, for how long, and how much it is to say."""

    max_bytes: Annotated[
        Annotated[int, Meta(ge=1, le=1 << 40)] | None,
        says(
            "Of each stream: the first and the last half of it are kept, and what is left out is "
            "said there. At most what the worker keeps (`stream_bytes_max`).",
            1_000_000,
            unit="bytes",
        ),
    ] = None
    keep_s: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None,
        says(
            "How many seconds output and files are kept after the end of the batch, if all of its "
            "jobs say it: the longest counts. At most what the tenant keeps (`output_keep_s`).",
            86_400,
        ),
    ] = None
    level: Annotated[
        Annotated[str, _LEVEL] | None, says("The job finds it in a variable.", "debug")
    ] = None
    level_env: Annotated[VariableName, says("The variable that holds the level.")] = "LOG_LEVEL"


JobLog = Annotated[
    LogDocument | None,
    says(
        "How much of its output is kept, for how long, and how much it says.",
        {"max_bytes": 1_000_000, "level": "debug"},
    ),
]
