"""The documents about files that jobs will need: asked for before anything runs."""

from typing import Annotated, Final

from msgspec import Meta, Struct, field

from weft.wire.description import says
from weft.wire.documents.files import Checksum

TRIED_MAX: Final = 1000
"""Files in one request."""
_PROBLEM = Meta(description="null: there is none, or it was not looked at")
_LOOKED = Meta(
    description="false: only a worker sees it, or there was no time; it may be there or not"
)


class WantedFile(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A file that jobs are to get."""

    from_: Annotated[str, says("As `from` of an input of a job.", "store://genomes/hg38.fa")] = (
        field(name="from")
    )
    optional: Annotated[bool, says("It may be missing.")] = False
    checksum: Annotated[
        Checksum | None, says("It must have this SHA-256; a file of at most 1 MiB is read for it.")
    ] = None


class FilesToTry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/files/trial`: what jobs are to get, and the stores in which they leave files."""

    inputs: Annotated[
        Annotated[list[WantedFile], Meta(max_length=TRIED_MAX)], says("What jobs are to get.")
    ] = []
    stores: Annotated[
        Annotated[list[str], Meta(max_length=100)],
        says("The stores in which jobs leave files.", ["results"]),
    ] = []


class FileTried(Struct, kw_only=True):
    """A file, as far as the server sees it now."""

    from_: str = field(name="from")
    problem: Annotated[str | None, _PROBLEM]
    is_looked_at: Annotated[bool, _LOOKED]


class StoreTried(Struct, kw_only=True):
    """A store in which jobs leave files; a small object was written, read and removed."""

    store: str
    problem: Annotated[str | None, _PROBLEM]
    is_looked_at: Annotated[bool, _LOOKED]


class FilesTried(Struct, kw_only=True):
    """What is there of the files of jobs, in the order in which it was asked for."""

    inputs: list[FileTried]
    stores: list[StoreTried]
