"""`weft down`: stop the supervisor of a home, and what a killed one has left; what it says."""

import os
import shlex
import signal
import sys
from pathlib import Path

import msgspec

from weft.run.home import Home
from weft.run.host.leftovers import end_roles, end_spawners
from weft.settings import Settings, default_home
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


def as_json_line(**facts: object) -> str:
    """Return facts as `--json` prints them."""
    return msgspec.json.encode(facts).decode() + "\n"


def summary_of(
    settings: Settings, url: str, link: str | None = None, *, detached: bool, as_json: bool
) -> str:
    """Return what `weft up` says when all is ready. `link`: logs a browser in."""
    if as_json:
        return as_json_line(url=url, home=str(settings.home), logs=str(settings.home / "log"))
    # In another terminal the variable may be missing; in this one it may name another home.
    known = default_home(os.environ if detached else {}).absolute() == settings.home
    hint = "" if known else f"  export WEFT_HOME={shlex.quote(str(settings.home))}\n"
    down = "weft down" if known else f"weft down --home {shlex.quote(str(settings.home))}"
    pages = (
        "weft open, which makes a link that logs a browser in"
        if link is None
        else f"{link}\n         once, within 5 minutes; `weft open` makes another link"
    )
    stop = down if detached else f"Ctrl-C here, or {down}"
    return (
        f"\nweft is ready at {url}\n"
        f"  home   {settings.home}\n"
        f"  logs   {settings.home / 'log'}\n"
        f"  stop   {stop}\n"
        f"  pages  {pages}\n"
        f"\nTry{'' if detached else ' in another terminal'}:\n"
        f"{hint}"
        "  weft run -- echo hello\n"
        "  seq 100 | weft each -- sh -c 'echo {} squared is $(({} * {}))'\n"
        "  weft top\n\n"
    )
