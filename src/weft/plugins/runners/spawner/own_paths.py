"""Whether jobs can have their own directory at further paths, such as `/io`, and why not.

bubblewrap gives such a job a root directory in which everything of the host is where it was. It is
no sandbox: the job may do there what it may do outside, but for new entries of `/`, which would be
lost with it, and for programs that gain rights (setuid).
"""

import os
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from weft.plugins.runners.spawner.sandbox import INSTALL, PROGRAM, Sandbox

_APART = ("--unshare-pid", "--as-pid-1")
_OWN = frozenset({"dev", "proc"})
_SAID_MAX = 120
_PROOF = ("/bin/sh", "-c", "[ -d /weft-proof ]")


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
    words = [program, *_APART, *_host(), "--dev-bind", "/dev", "/dev", "--proc", "/proc"]
    probe = subprocess.run(
        [*words, "--dir", "/weft-proof", "--", *_PROOF],
        check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=10, text=True,
    )  # fmt: skip
    if probe.returncode == 0:
        return Sandbox(tuple(words))
    said = probe.stderr.strip()[:_SAID_MAX]
    return Sandbox(why_not=f"`bwrap` says: {said}" if said else "`bwrap` fails", way_out=INSTALL)


def _host() -> list[str]:
    """Return the words that show what stands in the host's root directory."""
    words: list[str] = []
    with os.scandir("/") as entries:
        for one in sorted(entries, key=lambda entry: entry.name):
            if one.is_symlink():
                words += ["--symlink", os.readlink(one.path), one.path]  # noqa: PTH115 (text)
            elif one.name not in _OWN:
                words += ["--bind-try", one.path, one.path]
    return words
