"""`weft down`: stop the supervisor of a home, and what a killed one has left."""

import signal
import sys
from pathlib import Path

from weft.run.home import Home
from weft.run.host.leftovers import end_roles, end_spawners
from weft.run.summary import as_json_line
from weft.store.embedded import EmbeddedServer
from weft.wire.processes import end_process

_DOWN_S = 15.0


def run_down(directory: Path, *, as_json: bool = False) -> int:
    """Stop weft in this home, and the remains of a killed one; return the exit code.

    It is no error if nothing runs. Detached jobs (`--detach-jobs`) run on. It reads no settings:
    a broken file must not keep weft running.
    """
    home = Home(directory)
    pid = home.holder()
    if pid is not None:
        end_process(
            pid,
            dict.fromkeys((signal.SIGTERM, signal.SIGINT, signal.SIGKILL), _DOWN_S),
            is_meant=home.is_held_by,
        )
    ended = _end_leftovers(home, jobs_too=pid is None) if home.run.is_dir() else []
    has_run = pid is not None or bool(ended)
    told = (
        f"weft on {home.path} has stopped." if has_run else f"weft is not running on {home.path}."
    )
    line = as_json_line(home=str(home.path), stopped=has_run) if as_json else f"{told}\n"
    sys.stdout.write(line)
    return 0


def _end_leftovers(home: Home, *, jobs_too: bool) -> list[int]:
    with home.locked():
        ended = end_roles(home.path)
        if jobs_too:
            ended += end_spawners(home.path)
        server = EmbeddedServer(home.pg, home.run / "pg")
        if server.pid is not None:
            ended.append(server.pid)
        if server.is_initialised:
            server.stop()
        return ended
