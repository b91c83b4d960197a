"""Settings of output in a bucket."""

from dataclasses import dataclass
from typing import Annotated, Literal

from weft.core.files.file_stores import parse_bucket
from weft.settings import Bytes, setting
from weft.settings.declare import Checked


def _parse_url(text: str) -> str:
    if text:
        parse_bucket(text)
    return text.removesuffix("/")


@dataclass(frozen=True, kw_only=True)
class BucketLogSettings:
    """The bucket to which output is shipped, and from which an api reads it."""

    log_bucket: Annotated[str, Checked(_parse_url)] = setting(
        "",
        "where output of jobs is kept besides, as s3://BUCKET/PREFIX; `store_buckets` must name "
        "the bucket, too; empty: nowhere",
    )
    log_bucket_endpoint: str | None = setting(
        None, "address of the server of that bucket; none: that of AWS"
    )
    log_bucket_region: str | None = setting(None, "region of that bucket; none: us-east-1")
    log_bucket_credentials: Literal["env", "instance-role"] = setting(
        "env", "what opens that bucket: the environment of the process, or the role of its machine"
    )
    log_ship_s: float = setting(
        5.0, "seconds between two packs of output that go to that bucket", within=(0.05, 3600)
    )
    log_pack_bytes_max: Bytes = setting(
        32 << 20, "size of one such pack; it is held in memory", within=(1 << 10, 1 << 30)
    )
    log_read_bytes_max: Bytes = setting(
        1 << 30,
        "how much output from that bucket an api keeps on its disk",
        within=(1 << 10, None),
    )
