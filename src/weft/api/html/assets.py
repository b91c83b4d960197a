"""Style sheets and modules of the pages, each below a name that changes with its content."""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

PREFIX: Final = "/ui/assets"
_FOLDER: Final = Path(__file__).parent / "assets"
_MEDIA: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_DIGEST_CHARS: Final = 12


@dataclass(frozen=True)
class Asset:
    """A file that a browser may keep for ever."""

    data: bytes
    gzipped: bytes
    media: str
    path: str
    """Where it is served; other content has another path."""


@cache
def assets() -> Mapping[str, Asset]:
    """Return the assets by their names."""
    found: dict[str, Asset] = {}
    for file in sorted(_FOLDER.iterdir()):
        if file.suffix in _MEDIA:
            data = file.read_bytes()
            digest = hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]
            path = f"{PREFIX}/{digest}/{file.name}"
            found[file.name] = Asset(
                data, gzip.compress(data, mtime=0), f"{_MEDIA[file.suffix]}; charset=utf-8", path
            )
    return found
