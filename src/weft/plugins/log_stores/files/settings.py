"""Settings of the log store `files`."""

from dataclasses import dataclass

from weft.settings import Bytes, setting


@dataclass(frozen=True, kw_only=True)
class FilesSettings:
    """How much output is kept."""

    stream_bytes_max: Bytes = setting(
        64 << 20, "kept output of one stream of one attempt", within=(1 << 10, 1 << 40)
    )
    stream_head_bytes: Bytes = setting(
        1 << 20, "how much of it is the beginning; the rest is the end", within=(0, 1 << 40)
    )
    spool_attempt_bytes_max: Bytes = setting(
        256 << 20,
        "what the api keeps of the output of one attempt on a worker outside",
        within=(1 << 10, 1 << 40),
    )
    spool_worker_bytes_max: Bytes = setting(
        16 << 30, "what the api keeps of the output of one worker outside", within=(1 << 10, None)
    )
    spool_tenant_bytes_max: Bytes = setting(
        32 << 30,
        "what the api keeps of the output of one tenant's jobs on workers outside; then the "
        "oldest is removed",
        within=(1 << 10, None),
    )
    spool_free_bytes_min: Bytes = setting(
        1 << 30,
        "room on the api's disk below which it takes no more output of workers outside",
        within=(0, None),
    )
    spool_keep_s: float | None = setting(
        None,
        "seconds for which the api keeps output of workers outside; none: until the batch is "
        "deleted",
        within=(1, 3_000_000_000),
    )
    spool_look_s: float = setting(
        600.0,
        "seconds between two looks at the output of workers outside, for what is to be removed",
        within=(0.05, 86_400),
    )
