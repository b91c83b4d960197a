"""Job specs with their types: those that nearly all programs send are decoded once, and checked by
msgspec.

What is not plain is checked by `shapes.JOB`, key by key, which also has the words for what is
wrong. So nothing may be plain that `JOB` refuses.
"""

from functools import lru_cache
from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from weft_hail.checks import INTEGER_MAX
from weft_hail.files import Transfer
from weft_hail.requests import Document
from weft_hail.shapes import BYTES, CPU, TIMEOUT_MAX

_Whole = Annotated[int, Meta(ge=-INTEGER_MAX, le=INTEGER_MAX)]
_Positive = Annotated[int, Meta(gt=0, le=INTEGER_MAX)]
_Size = Annotated[str, Meta(pattern=rf"\A(?:{BYTES})\Z")]
_Memory = Annotated[str, Meta(pattern=rf"\A(?:lowmem|standard|highmem|{BYTES})\Z")]


class _Process(Struct, forbid_unknown_fields=True, gc=False):
    type: Literal["docker"]
    command: tuple[str, ...]
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
    in_update_parent_ids: tuple[_Whole, ...] = ()
    absolute_parent_ids: tuple[_Whole, ...] = ()
    in_update_job_group_id: _Whole | UnsetType = UNSET
    absolute_job_group_id: _Whole | UnsetType = UNSET
    always_run: bool = False
    always_copy_output: bool = False
    n_max_attempts: _Positive | UnsetType = UNSET
    env: tuple[_Variable, ...] = ()
    attributes: dict[str, str] | UnsetType = UNSET
    resources: Raw = Raw(b"{}")
    """Encoded: thousands of jobs ask for the same, which is then looked at once."""
    timeout: Annotated[float, Meta(gt=0, le=TIMEOUT_MAX)] | UnsetType = UNSET
    user_code: str = ""
    port: _Whole | UnsetType = UNSET
    input_files: tuple[Transfer, ...] = ()
    output_files: tuple[Transfer, ...] = ()


_DECODER: Final = msgspec.json.Decoder(PlainJob)
_RESOURCES: Final = msgspec.json.Decoder(_Resources)
_WRONG: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def plain_job(raw: bytes) -> PlainJob | None:
    """Return a spec whose shape is right; None: it is wrong, or has keys that few have."""
    try:
        spec = _DECODER.decode(raw)
    except _WRONG:
        return None
    return spec if _are_plain(bytes(spec.resources)) else None


def checked_job(document: Document) -> PlainJob:
    """Return a spec that `JOB` has taken and that asks for nothing that is refused."""
    process = document["process"]
    given = {key: document[key] for key in PlainJob.__struct_fields__ if key in document}
    return msgspec.convert(
        {
            **given,
            "process": {key: process[key] for key in _Process.__struct_fields__},
            "resources": Raw(msgspec.json.encode(document.get("resources", {}))),
        },
        PlainJob,
    )


@lru_cache(maxsize=1024)
def _are_plain(resources: bytes) -> bool:
    try:
        _RESOURCES.decode(resources)
    except _WRONG:
        return False
    return True
