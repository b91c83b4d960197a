"""Whether a role's database is a PostgreSQL on this host, found by who listens on its socket."""

import socket
import struct
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

_CREDENTIALS = struct.Struct("3i")


def local_socket(dsn: str) -> str:
    """Return the path of the socket on which a PostgreSQL of this host listens now; empty if the
    DSN names another way to it, if nobody listens, or if it is a proxy or a pooler.
    """
    path = socket_path(dsn)
    return path if path and _listener_of(path) == "postgres" else ""


def socket_path(dsn: str) -> str:
    """Return the path of the Unix socket that a DSN names; empty if it names none.

    >>> socket_path("postgresql://me:pw@/weft?host=/run/pg&port=5433")
    '/run/pg/.s.PGSQL.5433'
    >>> socket_path("postgresql://me:pw@%2Frun%2Fpg/weft"), socket_path("postgresql://me@db/weft")
    ('/run/pg/.s.PGSQL.5432', '')
    """
    parts = urlsplit(dsn)
    query = parse_qs(parts.query)
    host, _, port = parts.netloc.rpartition("@")[2].partition(":")
    directory = query.get("host", [unquote(host)])[0]
    number = query.get("port", [port or "5432"])[0]
    return f"{directory}/.s.PGSQL.{number}" if directory.startswith("/") else ""


def _listener_of(path: str) -> str:
    """Return the name of the program that listens on a socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
        try:
            probe.connect(path)
            data = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            pid, _, _ = _CREDENTIALS.unpack(data)
            return Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            return ""
