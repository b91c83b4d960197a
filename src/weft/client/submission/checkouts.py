"""What git tracks of a folder: of a checkout nothing else travels."""

import os
from pathlib import Path
from typing import Final

from weft.wire.app_folder import BadFolder

_SAID_MAX: Final = 400


class CheckoutUnreadable(BadFolder):
    """Git lists nothing of a folder of a checkout, and why."""


def tracked_files(folder: Path) -> list[str] | None:
    """Return the files below a folder that git tracks and that are there, by their paths in it;
    None: it is in no checkout. Raise `CheckoutUnreadable` where git does not tell, or tracks
    nothing: all files are never the answer, as those that git does not track may hold secrets.
    """
    where = folder.resolve()
    top = next((at for at in (where, *where.parents) if os.path.lexists(at / ".git")), None)
    if top is None:
        return None
    names = sorted(set(_listed(folder, top)))
    found = [name for name in names if name and os.path.lexists(folder / name)]
    if not found:
        raise CheckoutUnreadable(
            f"it is in the checkout {str(top)!r}, and git tracks no file in it"
        )
    return found


def _listed(folder: Path, top: Path) -> list[str]:
    import subprocess  # noqa: PLC0415 (few need it)

    # Neither the repository of a hook that runs this nor a program that the checkout names.
    variables = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    command = ("git", "-C", str(folder), "-c", "core.fsmonitor=false")
    try:
        listing = subprocess.run(
            [*command, "ls-files", "-z", "--recurse-submodules"],
            capture_output=True,
            check=True,
            env={**variables, "LC_ALL": "C"},
        ).stdout
    except OSError as error:
        raise CheckoutUnreadable(
            f"{str(top)!r} is a git checkout, and git cannot be run: {error.strerror}"
        ) from error
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.decode(errors="replace").split())[:_SAID_MAX]
        raise CheckoutUnreadable(
            f"git does not tell what it tracks in {str(top)!r}: {said}"
        ) from error
    return listing.decode(errors="surrogateescape").split("\0")
