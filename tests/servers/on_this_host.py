"""Servers of others that run for a test, each by its script in this folder."""

import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest

SHOWN_CHARS = 500


def script_of(program: str) -> Path:
    """Return the script that starts and stops it."""
    return Path(__file__).with_name(f"{program.lower()}.sh")


def start(program: str, directory: Path, port: int, *, within_s: float, **env: str) -> None:
    """Start what does not run of it. `env`: variables of the script."""
    subprocess.run(
        [script_of(program), "start", str(directory), str(port)],
        check=True,
        capture_output=True,
        timeout=within_s,
        env={**os.environ, **env},
    )


@contextmanager
def running(
    program: str, port: int, *, within_s: float, kept: str | None = None, **env: str
) -> Iterator[Path]:
    """Run a server in a directory; skip the test where there cannot be one. `kept`: a directory
    that stays, and its server with it.
    """
    directory = Path(kept or mkdtemp(prefix=f"weft-{program.lower()}-"))
    try:
        try:
            start(program, directory, port, within_s=within_s, **env)
        except (subprocess.CalledProcessError, OSError) as error:
            said = getattr(error, "stderr", b"") or b""
            pytest.skip(f"{program} cannot be started: {said.decode()[-SHOWN_CHARS:]}")
        yield directory
    finally:
        if not kept:
            subprocess.run([script_of(program), "stop", str(directory)], check=False, timeout=300)
            shutil.rmtree(directory, ignore_errors=True)


@asynccontextmanager
async def stopped(directory: Path, part: str) -> AsyncIterator[None]:
    """Let a part answer nobody; what it is asked meanwhile, it does afterwards."""
    pid = int((directory / "run" / f"{part}.pid").read_text().split()[0])
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
