"""Files of Hail's jobs as files of weft's. The job's own directory is at `/io`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal

import msgspec
from msgspec import Struct, field

from weft.core.bounded import read_json
from weft.core.files.file_paths import WrongPath, has_wildcards, parts_of
from weft.core.files.file_stores import source_at, target_at
from weft.ports.store import Row
from weft.wire.documents.files import FileInput, FileOutput
from weft_hail.requests import bad_request

IO: Final = "/io"
MARKS: Final = (b'_files"', b"hailtop.aiotools.copy")
"""One of them is in every spec with files, so that nobody asks for stores in vain."""
_FILE: Final = "file://"
_SCRATCH: Final = "batch"
"""The directory in which `hailtop.batch` has directories of its batches, and there of its jobs."""
_SCRATCH_PARTS: Final = 4
_COPY, _DELETE = (("python3", "-m", f"hailtop.aiotools.{one}") for one in ("copy", "delete"))
_LEFT: Final = "weft removes nothing from stores and shared directories; what is there stays:"


class Transfer(Struct, forbid_unknown_fields=True, gc=False):
    """A file, and where it is to be."""

    from_: str = field(name="from")
    to: str


class Work(Struct):
    """What a job does, and with which files."""

    command: tuple[str, ...]
    inputs: tuple[Transfer, ...]
    outputs: tuple[Transfer, ...]


def without_tools(work: Work) -> Work:
    """Return what does the work of a job of `hailtop.batch` itself, which copies inputs to outputs
    or removes the scratch of a batch with tools that no worker need have.
    """
    first, rest = work.command[:3], work.command[3:]
    if first == _DELETE:
        return Work(("echo", _LEFT, *rest), work.inputs, work.outputs)
    if first != _COPY or len(rest) != 2:  # noqa: PLR2004 (who pays, and the files)
        return work
    try:
        files = read_json(rest[1], list[Transfer])
    except msgspec.MsgspecError:
        return work
    own = [f"{IO}/{n}/{one.from_.rpartition('/')[2]}" for n, one in enumerate(files)]
    return Work(
        ("true",),
        tuple(Transfer(one.from_, path) for one, path in zip(files, own, strict=True)),
        tuple(Transfer(path, one.to) for one, path in zip(files, own, strict=True)),
    )


def inputs_of(files: Sequence[Transfer], stores: Sequence[Row]) -> tuple[FileInput, ...] | None:
    """Return what a job gets. Raise a 400."""
    found = []
    for n, one in enumerate(files):
        with _refusing(f"input_files[{n}]"):
            own = _own(one.to)
            kept = _kept(one.from_, own)
            at_host = one.from_.removeprefix(_FILE)
            found.append(FileInput(from_=kept or source_at(at_host, stores), to=own))
    return tuple(found) or None


def outputs_of(
    files: Sequence[Transfer], stores: Sequence[Row], *, is_always: bool
) -> tuple[FileOutput, ...] | None:
    """Return what is kept of a job; `is_always`: if it fails, too. Raise a 400."""
    found = []
    for n, one in enumerate(files):
        with _refusing(f"output_files[{n}]"):
            own = _own(one.from_)
            is_pattern = has_wildcards(own)
            to = f"{one.to.rstrip('/')}/" if is_pattern else one.to
            to = _kept(to, own) or target_at(to, stores)
            if to.endswith("/") and not is_pattern:
                to += own.removesuffix("/").rpartition("/")[2]
            when: Literal["always", "success"] = "always" if is_always else "success"
            found.append(FileOutput(from_=own, to=to, when=when, strip=is_pattern))
    return tuple(found) or None


def _own(path: str) -> str:
    """Return where in the job's directory a path below `/io` is. Raise `WrongPath`."""
    top, _, below = path.partition(f"{IO}/")
    if top or not below:
        raise WrongPath(f"{path[:200]!r} is not below {IO}")
    parts_of(below.removesuffix("/"))
    return below


def _kept(url: str, own: str) -> str | None:
    """Return the path of a file that weft itself keeps with the batch: of one that `hailtop.batch`
    hands from job to job in a shared directory, and of what is no url.
    """
    parts = own.split("/")
    if parts[0] == _SCRATCH and len(parts) >= _SCRATCH_PARTS and url.startswith(_FILE):
        return own if url.endswith(own.removeprefix(_SCRATCH)) else None
    return None if "://" in url or url.startswith("/") else url


@contextmanager
def _refusing(at: str) -> Iterator[None]:
    try:
        yield
    except WrongPath as error:
        raise bad_request(f"{at}: {error}") from error
