"""Servers of a data directory that outlived their parent process.

A postmaster writes its pid into `postmaster.pid`. That alone proves nothing: after a restart of
the machine another process may have the number, and PostgreSQL then refuses to start. So the
process is asked through `/proc` too.
"""

import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from weft.wire.processes import end_process


def postmaster_pid(data_dir: Path) -> int | None:
    """Return the pid of the live postmaster of this data directory."""
    try:
        pid = int((data_dir / "postmaster.pid").read_text().split("\n", 1)[0])
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return pid if _is_server_of(pid, data_dir) else None


def server_pids(data_dir: Path) -> Iterator[int]:
    """Yield all processes of servers of this directory, orphans of a killed postmaster too."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _is_server_of(int(entry.name), data_dir):
            yield int(entry.name)


def _is_server_of(pid: int, data_dir: Path) -> bool:
    """Say whether a process is PostgreSQL in that directory: all its processes change to it."""
    try:
        program = Path(f"/proc/{pid}/exe").readlink().name.removesuffix(" (deleted)")
        return program == "postgres" and Path(f"/proc/{pid}/cwd").samefile(data_dir)
    except OSError:
        return False


def end_leftovers(data_dir: Path, *, stop_s: float) -> list[int]:
    """Stop what is left of earlier servers of this directory and remove what they left; return
    their pids.

    The caller must hold the lock of the home. Orderly first; a postmaster that does not stop is
    ended, and a crash recovery is what the next start does anyway.
    """
    ended = []
    main = postmaster_pid(data_dir)
    if main is not None:
        end_process(
            main,
            dict.fromkeys((signal.SIGINT, signal.SIGQUIT, signal.SIGKILL), stop_s),
            is_meant=partial(_is_server_of, data_dir=data_dir),
        )
        ended.append(main)
    for pid in list(server_pids(data_dir)):
        end_process(
            pid,
            dict.fromkeys((signal.SIGQUIT, signal.SIGKILL), stop_s),
            is_meant=partial(_is_server_of, data_dir=data_dir),
        )
        ended.append(pid)
    (data_dir / "postmaster.pid").unlink(missing_ok=True)
    return ended
