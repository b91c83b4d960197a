"""`weft DOOR-config`: write what the clients of a door need to reach this server."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Final

from weft.cli.input.options import LOCAL, Local
from weft.cli.terminal.screen import note, print_json
from weft.client.http.address import Locator
from weft.core.errors import Invalid, Unauthenticated
from weft.registry.door import ClientFiles, Door

PRIVATE: Final = 0o600
Command = Callable[..., None]
_HELP: Final = """{page}

    weft {name} ~/.weft-{door}

Args:
    directory: Where to; it is made if it is missing.
"""


def command_of(name: str, door: Door, client: ClientFiles) -> Command:
    """Return the command of a door."""

    def command(directory: str, /, *, shared: Local = LOCAL) -> None:
        _write_files(directory, door, client, shared)

    command.__doc__ = _HELP.format(page=client.page, name=name, door=door.name)
    return command


def _write_files(directory: str, door: Door, client: ClientFiles, shared: Local) -> None:
    endpoint = Locator(home=shared.home).locate()
    if endpoint.token is None:
        raise Unauthenticated(
            "no token is known",
            detail=f"{door.title} needs one in its file.",
            hint="Set WEFT_TOKEN to a token of weft.",
        )
    try:
        folder = Path(directory).expanduser().absolute()
        folder.mkdir(parents=True, exist_ok=True)
        setup = client.setup(endpoint.url, endpoint.token, folder)
        paths = {Path(name).stem: folder / name for name in setup.files}
        for name, text in setup.files.items():
            _write(folder / name, text)
        env = folder / "env"
        lines = [f"unset {' '.join(setup.misleading)}"] if setup.misleading else []
        lines += [f"export {name}={shlex.quote(text)}" for name, text in setup.variables.items()]
        _write(env, "\n".join(lines) + "\n")
    except (OSError, ValueError, RuntimeError) as error:
        raise Invalid(
            f"the files cannot be written to {directory!r}",
            detail=f"{error}.",
            hint="Name a directory of your own.",
        ) from error
    if shared.json:
        files = {name: str(path) for name, path in paths.items()}
        print_json({"env": str(env), **files, "variables": dict(setup.variables)})
    else:
        note(f"written; now: . {shlex.quote(str(env))}")


def _write(file: Path, text: str) -> None:
    """Write a file that only its owner may read; another process sees the old one or the new."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.touch(mode=PRIVATE)
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(file)
