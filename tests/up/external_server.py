"""A PostgreSQL of the distribution, as somebody's external server."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.store.embedded.account import server_account

PASSWORD = "p@ss/word:1"
INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))


@contextmanager
def external_server(program: Path) -> Iterator[str]:
    """Start a server that only a password opens; give the DSN of its superuser."""
    base = Path(tempfile.mkdtemp(prefix="weft-external-"))
    base.chmod(0o755)
    data, password_file = base / "data", base / "password"
    password_file.write_text(PASSWORD)
    data.mkdir(mode=0o700)
    account = server_account(data)
    account.give(data)
    process = None
    try:
        subprocess.run(
            [
                program.with_name("initdb"), "-D", data, "-U", "owner", "--no-sync", "-E", "UTF8",
                "--auth=scram-sha-256", f"--pwfile={password_file}", "--locale=C",
            ],
            check=True, capture_output=True, cwd=data, **account.popen_options(),
        )  # fmt: skip
        process = subprocess.Popen(
            [program, "-D", data, "-h", "", "-k", data, "-c", "fsync=off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=data,
            **account.popen_options(),
        )  # fmt: skip
        _wait_ready(process, data)
        yield f"postgresql://owner:p%40ss%2Fword%3A1@/postgres?host={data}"
    finally:
        if process is not None:
            process.kill()
            process.wait()
        shutil.rmtree(base, ignore_errors=True)


def _wait_ready(process: subprocess.Popen[bytes], data: Path) -> None:
    deadline = time.monotonic() + 30
    while (
        not (data / "postmaster.pid").exists()
        or "ready" not in (data / "postmaster.pid").read_text()
    ):
        assert process.poll() is None
        assert time.monotonic() < deadline
