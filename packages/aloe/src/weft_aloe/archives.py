"""Where what a job leaves is kept: its archive is a place in a store, all else its directory."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from weft.core.files.file_paths import STORE_SCHEME
from weft.wire.documents.files import FileOutput
from weft_aloe.words import ENDED, STORE

_ALL: Final = partial(FileOutput, from_="**", optional=True)


def outputs_of(kept: Mapping[str, Any]) -> tuple[FileOutput, ...]:
    """Return what is kept of a job: everything, in its archive or as its directory."""
    if not kept["archive"]:
        return (_ALL(when="always"),)
    archive = _place_of(kept)
    return (
        _ALL(when="success", to=archive),
        _ALL(when="failure", to=archive if kept["archiveOnAppError"] else None),
        _ALL(when="cancelled"),
    )


def is_archived(kept: Mapping[str, Any], status: str) -> bool:
    """Say whether a job that ended so has an archive."""
    wanted = {"FINISHED", "FAILED"} if kept["archiveOnAppError"] else {"FINISHED"}
    return kept["archive"] is True and status in wanted


def kept_path(kept: Mapping[str, Any], status: str, name: str) -> str:
    """Return by which path weft keeps a file of a job, or at which address."""
    return (_place_of(kept) if is_archived(kept, status) else "") + name


def own_name(kept: Mapping[str, Any], path: str) -> str:
    """Return how a job called a file that weft keeps by this path."""
    return path.removeprefix(_place_of(kept)) if kept["archive"] else path


def source_of(batch_id: int, kept: Mapping[str, Any], status: str, name: str) -> str:
    """Return the address of a file of a job as an input of another one."""
    path = kept_path(kept, status if status in ENDED else "FINISHED", name)
    if path.startswith(STORE_SCHEME):
        return path
    return f"weft://b{batch_id}.j1/{path.replace('%', '%25')}"


def _place_of(kept: Mapping[str, Any]) -> str:
    system, path = kept["archiveSystem"] or STORE, f"{kept['archivePath']}/"
    return path if system == STORE else f"{STORE_SCHEME}{system}/{path}"
