"""Where the links of a tree lead, through other links of it: judged from what the tree holds, as a
kernel would walk it, without looking at any disk.
"""

from collections.abc import Mapping
from typing import Final

from weft.ports.file_store import FileRefused

_THROUGH_MAX: Final = 40
"""One that goes through more links is one in a circle, as for the kernel."""
_STEPS_MAX: Final = 1_000_000
"""Names in the texts of all links: each is a step of the walk."""
Place = tuple[str, ...]


def check_links(links: Mapping[Place, str]) -> None:
    """Take the links of a tree, by their places. Raise `FileRefused` if one leads out of it or in
    a circle. What is not there counts as a directory: it may be made later.
    """
    if sum(target.count("/") + 1 for target in links.values()) > _STEPS_MAX:
        raise FileRefused(f"its links hold more than {_STEPS_MAX} names")
    known: dict[Place, Place] = {}
    for link in links:
        _place_of(link, links, known, _THROUGH_MAX)


def _place_of(
    link: Place, links: Mapping[Place, str], known: dict[Place, Place], left: int
) -> Place:
    """Return where a link leads; each is walked once."""
    if link in known:
        return known[link]
    name, target = "/".join(link)[:80], links[link]
    if left < 0:
        raise FileRefused(f"it holds {name!r}, a link that leads in a circle")
    if not target or target.startswith("/") or "\0" in target:
        raise FileRefused(f"it holds {name!r}, a link that leads out of it")
    at = link[:-1]
    for part in target.split("/"):
        if part == "..":
            if not at:
                raise FileRefused(f"it holds {name!r}, a link that leads out of it")
            at = at[:-1]
        elif part not in {"", "."}:
            at = (*at, part)
            if at in links:
                at = _place_of(at, links, known, left - 1)
    known[link] = at
    return at
