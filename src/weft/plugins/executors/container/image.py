"""An unpacked image: its configuration, its programs and its users.

The image is somebody else's: no symlink in it is followed outside of it.
"""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from weft.core.bounded import read_json

_LINKS_MAX: Final = 40
_FIELDS: Final = 3
_TAG: Final = re.compile(r":[^/:@]+$")


class Image(msgspec.Struct, frozen=True):
    """What a worker knows of an image that it has unpacked, as `image.json` beside it."""

    reference: str
    """With its digest, unless it is a directory that somebody else unpacked."""
    root: str
    """Its root directory on this host."""
    env: Mapping[str, str] = {}
    command: tuple[str, ...] = ()
    """What it runs if the job does not say."""
    user: str = ""
    lock: str = ""
    """A file that is locked while a container of it runs; empty: it never goes."""
    size_bytes: int = 0


def scheme_of(reference: str) -> str:
    """Return where an image is: `docker`, `oci` or `dir`."""
    return reference.partition(":")[0]


def path_of(reference: str) -> str:
    """Return the path of an image on disk."""
    path = reference.partition(":")[2]
    return _TAG.sub("", path) if scheme_of(reference) == "oci" else path


def pinned(reference: str, digest: str) -> str:
    """Return the name of an image in a registry with the digest instead of its tag.

    >>> pinned("docker://registry.example:5000/bwa:1", "sha256:00")
    'docker://registry.example:5000/bwa@sha256:00'
    """
    return f"{_TAG.sub('', reference.partition('@')[0])}@{digest}"


def digest_of(manifest: bytes) -> str:
    """Return the digest by which a registry knows a manifest."""
    return "sha256:" + hashlib.sha256(manifest).hexdigest()


def read_config(layout: Path) -> Mapping[str, Any]:
    """Return the configuration in a layout of one image. Raise `ValueError` or `OSError`."""
    index = read_json((layout / "index.json").read_bytes())
    manifest = _blob(layout, index["manifests"][0]["digest"])
    found = _blob(layout, manifest["config"]["digest"]).get("config")
    return found if isinstance(found, dict) else {}


def _blob(layout: Path, digest: str) -> Any:  # noqa: ANN401 (a document of OCI)
    kind, _, name = digest.partition(":")
    if not (kind.isalnum() and name.isalnum()):
        raise ValueError(f"not a digest: {digest}")
    return read_json((layout / "blobs" / kind / name).read_bytes())


def env_of(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a configuration."""
    pairs = (one.partition("=") for one in config.get("Env") or ())
    return {name: value for name, _, value in pairs if name}


def command_of(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what an image runs."""
    return (*(config.get("Entrypoint") or ()), *(config.get("Cmd") or ()))


def inside(root: str, path: str) -> str | None:
    """Return where a path of the image is on this host, with symlinks followed within the image;
    None: it is not there.
    """
    parts = [one for one in path.split("/") if one]
    found: list[str] = []
    links = 0
    while parts:
        part = parts.pop(0)
        if part == ".":
            continue
        if part == "..":
            found = found[:-1]
            continue
        here = "/".join((root, *found, part))
        if os.path.islink(here):  # noqa: PTH114 (text)
            links += 1
            if links > _LINKS_MAX:
                return None
            target = os.readlink(here)  # noqa: PTH115 (text)
            found = [] if target.startswith("/") else found
            parts = [*(one for one in target.split("/") if one), *parts]
        elif not os.path.lexists(here):
            return None
        else:
            found.append(part)
    return "/".join((root, *found))


def has_program(root: str, name: str, path: str) -> bool:
    """Return whether an image has a program, by its path or in one of the directories of PATH."""
    paths = [name] if "/" in name else [f"{one}/{name}" for one in path.split(":") if one]
    return any(inside(root, one) is not None for one in paths)


def numbers_of(root: str, user: str) -> tuple[int, int] | None:
    """Return user and group id of `user`, `user:group`, by name or number; None: not known."""
    name, _, group = user.partition(":")
    entry = _entry(root, "/etc/passwd", name)
    if name.isdigit():
        uid, gid = int(name), 0
        of_uid = next((one for one in _entries(root, "/etc/passwd") if one[2] == name), None)
        gid = int(of_uid[3]) if of_uid and of_uid[3:] and of_uid[3].isdigit() else 0
    elif entry and len(entry) > _FIELDS and entry[2].isdigit() and entry[3].isdigit():
        uid, gid = int(entry[2]), int(entry[3])
    else:
        return None
    if not group:
        return uid, gid
    if group.isdigit():
        return uid, int(group)
    of_group = _entry(root, "/etc/group", group)
    return (uid, int(of_group[2])) if of_group and of_group[2].isdigit() else None


def _entry(root: str, path: str, name: str) -> Sequence[str] | None:
    return next((one for one in _entries(root, path) if one[0] == name), None)


def _entries(root: str, path: str) -> list[list[str]]:
    """Return the lines of a file of accounts."""
    real = inside(root, path)
    if real is None or not os.path.isfile(real):  # noqa: PTH113 (text)
        return []
    text = Path(real).read_text(errors="replace")
    return [one for line in text.splitlines() if len(one := line.split(":")) >= _FIELDS]
