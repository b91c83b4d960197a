"""The files that jobs get and leave."""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from weft.core.files.file_paths import (
    StoreFile,
    WrongPath,
    in_store,
    parse_source,
    parts_of,
    split_store,
)
from weft.core.text.filling import fixed_part, names_product
from weft.wire.description import END, says
from weft.wire.documents.secrets import VariableName

Checksum = Annotated[str, Meta(pattern=r"^sha256:[0-9a-f]{64}" + END)]
_TO_INPUT = says(
    "Its path in the job's directory; with a slash at its end, a directory that gets it under its "
    "own name. Without it, its own name there.",
    "data/genes.txt",
)
_TO_OUTPUT = says(
    "Where it is kept; with a slash at its end, a directory for what `from` matches. Without it, "
    "by its path in the job's directory. With `store://NAME/` before it, in that store. "
    "`${product.NAME}` is what the product says whose `path` the file is, or is below; it stands "
    "after the store or the first directory.",
    "results/",
    "store://results/run7/",
    "store://maps/${product.type}/",
)


class FileInput(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A file that a job gets before it starts."""

    from_: Annotated[
        str,
        says(
            "Where it comes from: an output of another job of the batch (`weft://j7/PATH`, or a "
            "parent's by its name, `weft://align/PATH`), of another batch (`weft://b1.j7/PATH`), "
            "a file of the worker's host below its `input_paths` (`file:///data/x`), an object of "
            "a store of the tenant (`store://genomes/hg38.fa`), or what a web server has "
            "(`https://HOST/PATH`). A path alone is a file of the "
            "batch.",
            "weft://align/out.bam",
            "file:///data/genes.txt",
            "store://genomes/hg38.fa",
            "https://example.org/genes.txt",
        ),
    ] = field(name="from")
    to: Annotated[str | None, _TO_INPUT] = None
    mode: Annotated[
        Literal["copy", "link"],
        says("`link`: without a copy where that is safe; it is to be read only."),
    ] = "copy"
    unpack: Annotated[
        bool, says("It is an archive (tar, zip): `to` is the directory for what is in it.")
    ] = False
    optional: Annotated[bool, says("The job starts without it if it is missing.")] = False
    checksum: Annotated[
        Checksum | None,
        says(
            "It must have this SHA-256.",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        ),
    ] = None
    env: Annotated[
        VariableName | None, says("The variable that holds its path on the worker.", "READS")
    ] = None


class FileOutput(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Files that are kept when a job has ended."""

    from_: Annotated[
        str,
        says(
            "Their paths in the job's directory: `*` and `?` within a name, `**` for any "
            "directories. A directory means all files below it.",
            "out/*.txt",
        ),
    ] = field(name="from")
    to: Annotated[str | None, _TO_OUTPUT] = None
    when: Annotated[
        Literal["always", "success", "failure", "cancelled"],
        says("After which ends. Where the job should have succeeded, they must be there."),
    ] = "success"
    optional: Annotated[
        bool,
        says(
            "There may be none; what is no plain file is left out, and what the job's application "
            "brought along and the job left as it was."
        ),
    ] = False
    strip: Annotated[
        bool,
        says(
            "Directories that stand in `from` before its first wildcard are not repeated below "
            "`to`: `out/*` and `results/` keep `results/a.txt`, not `results/out/a.txt`."
        ),
    ] = False
    announce: Annotated[
        bool,
        says(
            "Each is a message for the sink of the batch that has `each`: JSON of at most 64 KiB, "
            "at most 100 files."
        ),
    ] = False


ANNOUNCED_BYTES_MAX: Final = 1 << 16
"""Of one file that is a message."""
ANNOUNCED_MAX: Final = 100
"""Such files of one attempt."""
JobInputs = Annotated[
    tuple[FileInput, ...] | None,
    says(
        "Files that it gets before it starts, in a directory of its own.",
        [{"from": "weft://align/out.bam"}, {"from": "file:///data/genes.txt", "env": "GENES"}],
    ),
]
JobOutputs = Annotated[
    tuple[FileOutput, ...] | None,
    says(
        "Files of its directory that are kept when it has ended.",
        [{"from": "out/*.txt"}, {"from": "core", "when": "failure"}],
    ),
]


def names_object(
    inputs: tuple[FileInput, ...] | None,
    outputs: tuple[FileOutput, ...] | None,
    *,
    is_read: bool,
    file: StoreFile,
) -> bool:
    """Say whether a job with these inputs and outputs is to read, or to write, this object."""
    try:
        parts_of(file.path)
        if is_read:
            return any(
                in_store(one.from_) and parse_source(one.from_) == file for one in inputs or ()
            )
        return any(_is_target(one.to or "", file) for one in outputs or () if in_store(one.to))
    except WrongPath:
        return False


def _is_target(to: str, file: StoreFile) -> bool:
    if names_product(to):  # a worker says what it fills in: anything below what is fixed
        split_store(fixed_part(to))
        return file.address.startswith(fixed_part(to))
    store, path = split_store(to)
    below = path if not path or path.endswith("/") else f"{path}/"
    return store == file.store and (file.path == path or file.path.startswith(below))


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
