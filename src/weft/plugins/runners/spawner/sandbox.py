"""Whether jobs run in a sandbox of bubblewrap, what they see there, and why it cannot be had.

The agent says what all jobs of the worker have in common; the spawner adds what is one job's own:
its directories, and files that are hidden (`worker/spawner/sandboxed.py`).
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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


class NoSandbox(Conflict):
    """The setting `sandbox` asks for sandboxes, but none can be made."""

    code = "WORKER.NO_SANDBOX"


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
        probe = subprocess.run(
            [*words, "--", "/bin/sh", "-c", "exit 0"],
            check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=10, text=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Sandbox(why_not="`bwrap` does not end", way_out=INSTALL)
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
