"""Whether the spawner gets a PID namespace of its own, and why not.

Without root that takes a user namespace, in which only the first group of a user has a name: to
`chgrp`, `tar` and `rsync -a` the others are `nobody`'s.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import Literal

from weft.core.errors import Conflict

Wanted = Literal["auto", "always", "never"]
_COMMON = ("--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "slave")
_AS_USER = ("--user", "--map-current-user")
_PROOF = '[ "$$" = 1 ] && [ -e /proc/1/stat ]'
"""The shell proves that the namespace works: it sees itself as the first process."""
_SAID_MAX = 120


class NoNamespace(Conflict, code="WORKER.NO_NAMESPACE"):
    """The setting `job_namespace` asks for a PID namespace, but none can be created."""


@dataclass(frozen=True)
class Namespace:
    """What jobs get."""

    words: tuple[str, ...] = ()
    """The command that makes a PID namespace; empty: jobs run without one."""
    why_not: str = ""
    is_chosen: bool = True
    """Whether that is what the settings ask for."""


def find_namespace(wanted: Wanted) -> Namespace:
    """Return what jobs get on this host, as this user."""
    if wanted == "never":
        return Namespace(why_not="`job_namespace` is `never`")
    groups = lost_groups()
    if wanted == "auto" and groups:
        names = ", ".join(map(str, groups))
        return Namespace(why_not=f"so that they keep your other groups ({names})")
    if shutil.which("unshare") is None:
        return Namespace(why_not="`unshare` is missing", is_chosen=False)
    words = ("unshare", *(() if os.geteuid() == 0 else _AS_USER), *_COMMON)
    probe = subprocess.run(
        [*words, "/bin/sh", "-c", _PROOF],
        check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=10, text=True,
    )  # fmt: skip
    if probe.returncode == 0:
        return Namespace(words)
    said = probe.stderr.strip()[:_SAID_MAX]
    return Namespace(why_not=f"the kernel allows none: {said}", is_chosen=False)


def namespace_words(wanted: Wanted) -> tuple[str, ...]:
    """Return the command that gives the spawner its namespace; empty: none.

    Raise `NoNamespace` if there must be one.
    """
    namespace = find_namespace(wanted)
    if wanted == "always" and not namespace.words:
        raise NoNamespace(
            "cannot give jobs a PID namespace",
            detail=f"{namespace.why_not[:1].upper()}{namespace.why_not[1:]}.",
            hint="Set `job_namespace` to `auto`, or ask `weft doctor` what is missing.",
        )
    return namespace.words


def lost_groups() -> list[int]:
    """Return the groups of this user that have no name in a user namespace."""
    return [] if os.geteuid() == 0 else sorted({*os.getgroups()} - {os.getegid()})
