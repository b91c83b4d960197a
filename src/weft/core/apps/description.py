"""What an application says of itself, as it is kept."""

import re
from dataclasses import dataclass
from typing import Final

import msgspec

from weft.core.apps.values import Parameter

APP: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
"""`name-version`, as jobs ask for it."""
LOCAL_SYSTEM: Final = "local"
"""The execution system of an application that may run anywhere."""
_MEMORY: Final = re.compile(r"(\d{1,9}(?:\.\d{1,6})?) ?(KB|MB|GB|TB)?", re.IGNORECASE)
_UNITS: Final = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


class AppDescription(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An application, as it is kept."""

    name: str
    """`name-version`."""
    title: str = ""
    wrapper: str
    """The script that `bash` runs, within the folder."""
    parameters: tuple[Parameter, ...] = ()
    inputs: tuple[Parameter, ...] = ()
    queue: str | None = None
    nodes: int = 1
    processors: int = 1
    """On each node."""
    memory: int | None = None
    """Bytes on each node."""
    timeout_s: float | None = None
    system: str | None = None
    """The queue, pool or engine on which it runs; None: anywhere."""


@dataclass(frozen=True)
class FoundApp:
    """An application as jobs get it now."""

    revision_id: int
    digest: str
    description: AppDescription


def bytes_of(text: str) -> int | None:
    """Return what `2GB` says, a bare number in GB; None: that is not its form, or nothing."""
    match = _MEMORY.fullmatch(text.strip())
    if match is None:
        return None
    return int(float(match[1]) * _UNITS[(match[2] or "GB").upper()]) or None
