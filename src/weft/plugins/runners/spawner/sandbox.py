"""Whether jobs run in a sandbox of bubblewrap, what they see there, and why it cannot be had.

The agent says what all jobs of the worker have in common; the spawner adds what is one job's own:
its directories, and files that are hidden (`worker/spawner/sandboxed.py`).

Also whether the spawner gets a PID namespace of its own. Without root that takes a user namespace,
in which only the first group of a user has a name: to `chgrp`, `tar` and `rsync -a` the others are
`nobody`'s.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from weft.core.errors import Conflict

PROGRAM = "bwrap"
_APART = ("--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--as-pid-1")
_WEAK = ("--cap-drop", "ALL")
_SEEN = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
_HIDDEN = ("/tmp", "/var/tmp", "/run")  # noqa: S108 (each job has its own)
_SAID_MAX = 120
INSTALL = (
    "Install bubblewrap, and allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)."
)
_BE_NO_ROOT = "Run the worker as a plain user."


class NoSandbox(Conflict, code="WORKER.NO_SANDBOX"):
    """The setting `sandbox` asks for sandboxes, but none can be made."""


@dataclass(frozen=True)
class Sandbox:
    """What jobs get."""

    words: tuple[str, ...] = ()
    """The command that makes a sandbox, without what is one job's own; empty: there is none."""
    why_not: str = ""
    way_out: str = ""


def find_sandbox(home: Path, *, network: bool = True, paths: Sequence[str] = ()) -> Sandbox:
    """Return what jobs get on this host, as this user.

    `home`: hidden, with its sockets and keys. `paths`: what jobs may write beside what is theirs.
    Symlinks are followed here: what is mounted on one is not seen below the directory itself.
    """
    if 0 in os.getresuid():
        return Sandbox(
            why_not="the worker is root, who may change the kernel's settings from any sandbox",
            way_out=_BE_NO_ROOT,
        )
    for path in paths:
        if os.path.realpath(path) == "/":
            way_out = "Name the directories that jobs may write."
            return Sandbox(why_not="`sandbox_paths` names the whole host", way_out=way_out)
        if not os.path.exists(path):  # noqa: PTH110 (text)
            way_out = "Make this directory, or take it out of `sandbox_paths`."
            return Sandbox(why_not=f"{path} of `sandbox_paths` does not exist", way_out=way_out)
    program = shutil.which(PROGRAM)
    if program is None:
        return Sandbox(why_not="the program `bwrap` is missing", way_out=INSTALL)
    words = [program, *_APART, *_WEAK, *(() if network else ("--unshare-net",)), *_SEEN]
    for directory in _directories(*_HIDDEN, *_home_of_user()):
        words += ["--tmpfs", directory]
    for one in map(os.path.realpath, paths):
        words += ["--bind", one, one]
    for directory in _directories(str(home)):
        words += ["--tmpfs", directory]  # last, so that no path brings it back
    words += ["--setenv", "TMPDIR", "/tmp"]  # noqa: S108 (the job's own)
    try:
        return _tried(words, "--", "/bin/sh", "-c", "exit 0")
    except subprocess.TimeoutExpired:
        return Sandbox(why_not="`bwrap` does not end", way_out=INSTALL)


def _tried(words: Sequence[str], *proof: str) -> Sandbox:
    """Return a command that runs its proof, or what it says. Raise `TimeoutExpired`."""
    probe = subprocess.run(
        [*words, *proof],
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=10,
        text=True,
    )
    if probe.returncode == 0:
        return Sandbox(tuple(words))
    said = probe.stderr.strip()[:_SAID_MAX]
    return Sandbox(why_not=f"`bwrap` says: {said}" if said else "`bwrap` fails", way_out=INSTALL)


def sandbox_words(home: Path, *, network: bool, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the command that makes a sandbox. Raise `NoSandbox`."""
    sandbox = find_sandbox(home, network=network, paths=paths)
    if not sandbox.words:
        raise NoSandbox(
            "cannot run jobs in sandboxes",
            detail=f"The reason: {sandbox.why_not}.",
            hint=f"{sandbox.way_out} `sandbox = none` runs jobs as the user of the worker.",
        )
    return sandbox.words


def _directories(*paths: str) -> list[str]:
    """Return those that are there, each once, without symlinks."""
    found = dict.fromkeys(map(os.path.realpath, paths))
    return [one for one in found if os.path.isdir(one)]  # noqa: PTH112 (text)


def _home_of_user() -> tuple[str, ...]:
    try:
        found = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ()
    return () if os.path.realpath(found) == "/" else (found,)


# Jobs with directories of their own at further paths, such as `/io`.
# bubblewrap gives such a job a root directory in which everything of the host is where it was. It
# is no sandbox: the job may do there what it may do outside, but for new entries of `/`, which
# would be lost with it, and for programs that gain rights (setuid).

_OWN_ENTRIES = frozenset({"dev", "proc"})
_OF_ROOT = ("--unshare-pid", "--as-pid-1")
_DEVICES = ("--dev-bind", "/dev", "/dev", "--proc", "/proc")


def find_own_root() -> Sandbox:
    """Return the command that makes such a root directory on this host, as this user."""
    program = shutil.which(PROGRAM)
    if program is None:
        return Sandbox(why_not="the program `bwrap` is missing", way_out=INSTALL)
    try:
        return _own_root(program, Path("/").stat().st_mtime_ns)
    except subprocess.TimeoutExpired:
        return Sandbox(why_not="`bwrap` does not end", way_out=INSTALL)


@lru_cache(maxsize=1)
def _own_root(program: str, _changed_ns: int) -> Sandbox:
    """Try the command. It is made anew when the entries of `/` have changed."""
    words = [program, *_OF_ROOT, *_host(), *_DEVICES]
    return _tried(words, "--dir", "/weft-proof", "--", "/bin/sh", "-c", "[ -d /weft-proof ]")


def _host() -> list[str]:
    """Return the words that show what stands in the host's root directory."""
    words: list[str] = []
    with os.scandir("/") as entries:
        for one in sorted(entries, key=lambda entry: entry.name):
            if one.is_symlink():
                words += ["--symlink", os.readlink(one.path), one.path]  # noqa: PTH115 (text)
            elif one.name not in _OWN_ENTRIES:
                words += ["--bind-try", one.path, one.path]
    return words


# Jobs without network.
# bubblewrap gives such a job a network namespace in which there is only a loopback device of its
# own. It is no sandbox: everything else is as for other jobs, but it sees only its own processes,
# and a program gains no rights (setuid).

_WHOLE_HOST = ("--unshare-pid", "--as-pid-1", "--dev-bind", "/", "/", "--proc", "/proc")
_LET_IN = "This machine lends no network namespace: look into the settings of its container."
_PROOF_OF_SILENCE = (
    'while read -r line; do case "$line" in *"|"*|lo:*) ;; '
    "tunl0:*|sit0:*|gre0:*|gretap0:*|erspan0:*|ip_vti0:*|ip6_vti0:*|ip6tnl0:*|ip6gre0:*) ;; "
    '*) echo "it sees ${line%%:*}" >&2; exit 1 ;; esac; done < /proc/net/dev'
)
"""Only the loopback device is there, and what the kernel makes in each namespace: ends of tunnels,
which are down and lead nowhere.
"""


def find_no_network(words: tuple[str, ...] = ()) -> Sandbox:
    """Return the command that runs a job without network on this host, as this user. `words`: that
    which makes its sandbox or its root directory already; empty: it has neither.
    """
    if not words:
        program = shutil.which(PROGRAM)
        if program is None:
            return Sandbox(why_not="the program `bwrap` is missing", way_out=INSTALL)
        words = (program, *_WHOLE_HOST)
    words = (*words, "--unshare-net")
    try:
        _try(words)
    except subprocess.TimeoutExpired:
        return Sandbox(why_not="`bwrap` does not end", way_out=_LET_IN)
    except _Refused as error:
        return Sandbox(why_not=str(error), way_out=_LET_IN)
    return Sandbox(words)


class _Refused(Exception):
    """What bwrap says."""


@lru_cache(maxsize=4)
def _try(words: tuple[str, ...]) -> None:
    """Try the command, once for all jobs unless it fails: that may pass."""
    if not (tried := _tried(words, "--", "/bin/sh", "-c", _PROOF_OF_SILENCE)).words:
        raise _Refused(tried.why_not)


Wanted = Literal["auto", "always", "never"]
_COMMON = ("--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "slave")
_AS_USER = ("--user", "--map-current-user")
_PROOF = '[ "$$" = 1 ] && [ -e /proc/1/stat ]'
"""The shell proves that the namespace works: it sees itself as the first process."""


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
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=10,
        text=True,
    )
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
