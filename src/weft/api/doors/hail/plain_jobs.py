"""The job specs that nearly all programs send, decoded once and checked by msgspec.

What it does not take is checked by `shapes.JOB`, key by key, which also has the words for what is
wrong. So it must take nothing that `JOB` refuses.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from weft.api.doors.hail.checks import INTEGER_MAX
from weft.api.doors.hail.shapes import BYTES, CPU, TIMEOUT_MAX

_Whole = Annotated[int, Meta(ge=-INTEGER_MAX, le=INTEGER_MAX)]
_Positive = Annotated[int, Meta(gt=0, le=INTEGER_MAX)]
_Size = Annotated[str, Meta(pattern=rf"\A(?:{BYTES})\Z")]
_Memory = Annotated[str, Meta(pattern=rf"\A(?:lowmem|standard|highmem|{BYTES})\Z")]


class _Process(Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["docker"]
    command: list[str]
    image: str


class _Variable(Struct, forbid_unknown_fields=True, gc=False):
    name: str
    value: str


class _Resources(Struct, forbid_unknown_fields=True, gc=False):
    cpu: Annotated[str, Meta(pattern=rf"\A(?:{CPU})\Z")] = "1"
    memory: _Memory = "standard"
    storage: _Size = "0Gi"
    preemptible: bool = True


class PlainJob(Struct, forbid_unknown_fields=True, gc=False):
    """A job that asks for nothing that needs a cloud."""

    job_id: _Whole
    process: _Process
    in_update_parent_ids: list[_Whole] = []
    absolute_parent_ids: list[_Whole] = []
    in_update_job_group_id: _Whole = 0
    absolute_job_group_id: _Whole = 0
    always_run: bool = False
    always_copy_output: bool = False
    n_max_attempts: _Positive = 1
    env: list[_Variable] = []
    attributes: dict[str, str] = {}
    resources: _Resources | msgspec.UnsetType = msgspec.UNSET
    timeout: Annotated[float, Meta(gt=0, le=TIMEOUT_MAX)] = 1.0
    user_code: str = ""


_DECODER: Final = msgspec.json.Decoder(PlainJob)


def is_plain(raw: bytes) -> bool:
    """Say whether this is a whole spec whose shape is right, of such a job."""
    try:
        _DECODER.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True
