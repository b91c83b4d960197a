"""What goes to the server ahead of the jobs that name it: code."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from weft.core.errors import Invalid


class Ahead(dict[str, str]):
    """A field of a job's document that names bytes by their digest."""

    def __init__(self, body: bytes) -> None:
        from hashlib import sha256  # noqa: PLC0415 (5 ms)

        self.digest = sha256(body).hexdigest()
        self.body = body
        super().__init__(digest=self.digest)


def sent_ahead(jobs: Iterable[object]) -> dict[str, bytes]:
    """Return what these jobs need at the server before they are sent, by digest."""
    fields = (job.get("code") for job in jobs if isinstance(job, Mapping))
    return {one.digest: one.body for one in fields if isinstance(one, Ahead)}


def code_of(folder: Path) -> Ahead:
    """Return a folder's files: those git tracks in a checkout, else all. Raise `Invalid`."""
    from weft.wire.app_folder import CODE_BYTES_MAX, BadFolder, pack  # noqa: PLC0415 (10 ms)

    try:
        os.scandir(folder).close()  # raises for what is no directory
        return Ahead(pack(folder, tracked_by_git(folder), bytes_max=CODE_BYTES_MAX))
    except (BadFolder, OSError) as error:
        why = str(getattr(error, "strerror", error))
        raise Invalid(
            f"the code {str(folder)!r} cannot travel",
            detail=f"{why[:1].upper()}{why[1:]}.",
            hint="Give a directory with a program; large data travels as `inputs`.",
        ) from error


def tracked_by_git(folder: Path) -> list[str] | None:
    """Return the files below a folder that git tracks and that are there; None: it is of no
    checkout, or git is not here.
    """
    import subprocess  # noqa: PLC0415 (few need it)

    command = ("git", "-C", str(folder), "ls-files", "-z", "--recurse-submodules")
    try:
        listing = subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    names = sorted(listing.decode(errors="surrogateescape").split("\0"))
    return [name for name in names if name and os.path.lexists(folder / name)]
