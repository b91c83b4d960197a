"""Numbers of what a started process is given besides its three standard streams.

Two may be the same where no process has both. A warm process finds its socket at `CONTROL_FD`.
"""

from typing import Final

WORDS_FD: Final = 3
"""Where bwrap finds the words of `sandboxed.variables_of`."""
WHY_FD: Final = 3
"""Where a process of an account says why its program could not be run."""
ENTER_FD: Final = 4
"""Where a process finds the file by which it enters its cgroup."""
