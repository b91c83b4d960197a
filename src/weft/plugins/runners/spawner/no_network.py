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
        words = (program, *_HOST)
    words = (*words, _APART)
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
    probe = subprocess.run(
        [*words, "--", "/bin/sh", "-c", _PROOF],
        check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=10, text=True,
    )  # fmt: skip
    if probe.returncode != 0:
        said = probe.stderr.strip()[:_SAID_MAX]
        raise _Refused(f"`bwrap` says: {said}" if said else "`bwrap` fails")
