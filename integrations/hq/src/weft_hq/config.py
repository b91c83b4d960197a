"""`weft-hq-config [DIRECTORY]`: a directory with this `hq`, where another one is on the machine.

eval "$(weft-hq-config)"
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys

DIRECTORY = "~/.weft-hq"


def main() -> int:
    """Make the directory; print what a shell says to have it first."""
    own = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "hq")
    folder = os.path.abspath(os.path.expanduser((sys.argv[1:] or [DIRECTORY])[0]))
    link = os.path.join(folder, "hq")
    try:
        os.makedirs(folder, exist_ok=True)
        if os.path.islink(link):
            os.unlink(link)
        os.symlink(own, link)
    except OSError as error:
        print(f"error: cannot make {link}: {error.strerror}", file=sys.stderr)
        return 1
    other = shutil.which("hq")
    if other and not os.path.samefile(other, own):
        print(f"{other} is another hq; that of weft goes before it", file=sys.stderr)
    print(f"export PATH={shlex.quote(folder)}:$PATH")
    return 0
