"""Settings of the log store `files`."""

from dataclasses import dataclass

from weft.settings import Bytes, setting


@dataclass(frozen=True, kw_only=True)
class FilesSettings:
    """How much output is kept."""

    stream_bytes_max: Bytes = setting(
        64 << 20, "kept output of one stream of one attempt", minimum=1 << 10, maximum=1 << 40
    )
    stream_head_bytes: Bytes = setting(
        1 << 20,
        "how much of it is the beginning; the rest is the end",
        minimum=0,
        maximum=1 << 40,
    )
