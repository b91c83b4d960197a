"""Style sheets and modules of the pages, each below a name that changes with its content."""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from weft.core.pictures.svg import style_of

PREFIX: Final = "/ui/assets"
_FOLDER: Final = Path(__file__).parent / "assets"
_MEDIA: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_DIGEST_CHARS: Final = 12
PICTURES: Final = "pictures.css"
"""The style of pictures, which are drawn elsewhere, too."""


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
    files = sorted(path for path in _FOLDER.iterdir() if path.suffix in _MEDIA)
    contents = {path.name: path.read_bytes() for path in files} | {
        PICTURES: style_of("pictures").encode()
    }
    return {name: _asset(name, data) for name, data in contents.items()}


def _asset(name: str, data: bytes) -> Asset:
    digest = hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]
    media = f"{_MEDIA[Path(name).suffix]}; charset=utf-8"
    path = f"{PREFIX}/{digest}/{name}"
    return Asset(data, gzip.compress(data, mtime=0), media, path)
