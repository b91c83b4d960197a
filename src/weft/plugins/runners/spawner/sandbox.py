"""Whether jobs run in a sandbox of bubblewrap, what they see there, and why it cannot be had.

The agent says what all jobs of the worker have in common; the spawner adds what is one job's own:
its directories (`worker/spawner/sandboxed.py`).
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


class NoSandbox(Conflict):
    """The setting `sandbox` asks for sandboxes, but none can be made."""

    code = "WORKER.NO_SANDBOX"


@dataclass(frozen=True)
class Sandbox:
    """What jobs get."""

    words: tuple[str, ...] = ()
    """The command that makes a sandbox, without what is one job's own; empty: there is none."""
    why_not: str = ""


def find_sandbox(home: Path, *, network: bool = True, paths: Sequence[str] = ()) -> Sandbox:
    """Return what jobs get on this host, as this user.

    `home`: hidden, with its sockets and keys. `paths`: what jobs may write beside what is theirs.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        return Sandbox(why_not="the program `bwrap` is missing")
    hidden = [one for one in (*_HIDDEN, _home_of_user()) if os.path.isdir(one)]  # noqa: PTH112 (text)
    words = [program, *_APART, *_WEAK, *(() if network else ("--unshare-net",)), *_SEEN]
    for one in dict.fromkeys(hidden):
        words += ["--tmpfs", one]
    for one in paths:
        words += ["--bind", one, one]
    if home.is_dir():
        words += ["--tmpfs", str(home)]  # last, so that no path brings it back
    words += ["--setenv", "TMPDIR", "/tmp"]  # noqa: S108 (the job's own)
    try:
        probe = subprocess.run(
            [*words, "--", "/bin/sh", "-c", "exit 0"],
            check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=10, text=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Sandbox(why_not="`bwrap` does not end")
    if probe.returncode == 0:
        return Sandbox(tuple(words))
    return Sandbox(why_not=probe.stderr.strip()[:_SAID_MAX] or "`bwrap` fails")


def sandbox_words(home: Path, *, network: bool, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the command that makes a sandbox. Raise `NoSandbox`."""
    found = find_sandbox(home, network=network, paths=paths)
    if not found.words:
        raise NoSandbox(
            "cannot run jobs in sandboxes",
            detail=f"{found.why_not[:1].upper()}{found.why_not[1:]}.",
            hint="Install bubblewrap and allow user namespaces; `weft doctor` says what is "
            "missing. `sandbox = none` runs jobs as the user of the worker.",
        )
    return found.words


def _home_of_user() -> str:
    try:
        found = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""
    return "" if found == "/" else found
