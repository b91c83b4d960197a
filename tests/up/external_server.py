"""A PostgreSQL of the distribution, as somebody's external server."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from data_directory import data_directory
from weft.store.embedded.account import server_account

PASSWORD = "p@ss/word:1"
SUPERUSER = "postgres"
INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))


@dataclass(frozen=True)
class ExternalServer:
    """A server that only a password opens. Its socket is in its data directory."""

    data: Path

    def dsn(
        self, user: str = SUPERUSER, password: str = PASSWORD, database: str = "postgres"
    ) -> str:
        """Return the URL under which a user reaches a database."""
        login = f"{quote(user, safe='')}:{quote(password, safe='')}"
        return f"postgresql://{login}@/{database}?host={self.data}"


@contextmanager
def external_server(program: Path, *, password: str = PASSWORD) -> Iterator[ExternalServer]:
    """Start the program `postgres` on an empty cluster of its own."""
    with data_directory() as base:
        base.chmod(0o755)
        data, password_file = base / "data", base / "password"
        password_file.write_text(password)
        data.mkdir(mode=0o700)
        account = server_account(data)
        account.give(data)
        process = None
        try:
            subprocess.run(
                [
                    program.with_name("initdb"),
                    "-D",
                    data,
                    "-U",
                    SUPERUSER,
                    "--no-sync",
                    "--auth=scram-sha-256",
                    f"--pwfile={password_file}",
                    "-E",
                    "UTF8",
                    "--locale=C",
                ],
                check=True,
                capture_output=True,
                cwd=data,
                **account.popen_options(),
            )
            process = start_server(program, data)
            yield ExternalServer(data)
        finally:
            if process is not None:
                process.kill()
                process.wait()


def start_server(program: Path, data: Path) -> subprocess.Popen[bytes]:
    """Start it on a cluster that is there, a standby too, and wait until it is ready."""
    process = subprocess.Popen(
        [program, "-D", data, "-h", "", "-k", data, "-c", "fsync=off", "-c", "jit=off"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=data,
        **server_account(data).popen_options(),
    )
    deadline = time.monotonic() + 30
    while (
        not (data / "postmaster.pid").exists()
        or "ready" not in (data / "postmaster.pid").read_text()
    ):
        assert process.poll() is None
        assert time.monotonic() < deadline
    return process
