"""What the user of this process is called."""

import getpass
import os
from contextlib import suppress


def user_name() -> str:
    """Return the login name, or the number of a user who has none."""
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return f"uid-{os.geteuid()}"
