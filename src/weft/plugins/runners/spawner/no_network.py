"""Whether jobs can run without network, and why not.

bubblewrap gives such a job a network namespace in which there is only a loopback device of its
own. It is no sandbox: everything else is as for other jobs, but it sees only its own processes,
and a program gains no rights (setuid).
"""

import shutil
import subprocess
from functools import lru_cache

from weft.plugins.runners.spawner.sandbox import INSTALL, PROGRAM, Sandbox

_HOST = ("--unshare-pid", "--as-pid-1", "--dev-bind", "/", "/", "--proc", "/proc")
_APART = "--unshare-net"
_LET_IN = "This machine lends no network namespace: look into the settings of its container."
_SAID_MAX = 120
_PROOF = (
    'while read -r line; do case "$line" in *"|"*|lo:*) ;; *) exit 1 ;; esac; done < /proc/net/dev'
)
"""Only the loopback device is there."""


def find_no_network(words: tuple[str, ...] = ()) -> Sandbox:
    """Return the command that runs a job without network on this host, as this user. `words`: that
    which makes its sandbox or its root directory already; empty: it has neither.
    """
    if not words:
        program = shutil.which(PROGRAM)
        if program is None:
            return Sandbox(why_not="the program `bwrap` is missing", way_out=INSTALL)
        words = (program, *_HOST)
    return _tried((*words, _APART))


@lru_cache(maxsize=4)
def _tried(words: tuple[str, ...]) -> Sandbox:
    """Try the command once for all jobs."""
    try:
        probe = subprocess.run(
            [*words, "--", "/bin/sh", "-c", _PROOF],
            check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=10, text=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Sandbox(why_not="`bwrap` does not end", way_out=_LET_IN)
    if probe.returncode == 0:
        return Sandbox(words)
    said = probe.stderr.strip()[:_SAID_MAX]
    return Sandbox(why_not=f"`bwrap` says: {said}" if said else "`bwrap` fails", way_out=_LET_IN)
