"""`weft hail-config`: write what Hail's own client needs to reach this server."""

import json
import os
import shlex
from pathlib import Path
from typing import Final

from weft.cli.input.options import LOCAL, Local
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_json
from weft.client.http.address import Endpoint, Locator
from weft.core.errors import Invalid, Unauthenticated

NAMESPACE: Final = "default"
PRIVATE: Final = 0o600
_MISLEADING: Final = ("HAIL_BASE_PATH", "HAIL_IDENTITY_PROVIDER_JSON")
"""Variables of another server, which the client would obey."""
_LOCATIONS: Final = {"http": "gce", "https": "external"}
"""How the client writes the scheme."""


def hail_config(directory: str, /, *, shared: Local = LOCAL) -> int:
    """Write the files with which Hail's own client reaches this server: `env`, which sets its
    variables, and `tokens.json`.

        weft hail-config ~/.weft-hail

    Args:
        directory: Where to; it is made if it is missing.
        shared: Options of every command.
    """
    endpoint = Locator(home=shared.home).locate()
    if endpoint.token is None:
        raise Unauthenticated(
            "no token is known",
            detail="Hail's client needs one in its file.",
            hint="Set WEFT_TOKEN to a token of weft.",
        )
    try:
        folder = Path(directory).expanduser().absolute()
        folder.mkdir(parents=True, exist_ok=True)
        tokens, env = folder / "tokens.json", folder / "env"
        _write(tokens, json.dumps({NAMESPACE: endpoint.token}) + "\n")
        variables = variables_of(endpoint, tokens)
        lines = [f"unset {' '.join(_MISLEADING)}"]
        lines += [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
        _write(env, "\n".join(lines) + "\n")
    except (OSError, ValueError, RuntimeError) as error:
        raise Invalid(
            f"the files cannot be written to {directory!r}",
            detail=f"{error}.",
            hint="Name a directory of your own.",
        ) from error
    if shared.json:
        print_json({"env": str(env), "tokens": str(tokens), "variables": variables})
    else:
        note(f"written; now: . {shlex.quote(str(env))}")
    return 0


def variables_of(endpoint: Endpoint, tokens: Path) -> dict[str, str]:
    """Return the variables that Hail's client reads."""
    return {
        "HAIL_TERRA": "1",
        "HAIL_LOCATION": _LOCATIONS[endpoint.scheme],
        "HAIL_DOMAIN": endpoint.url.partition("://")[2],
        "HAIL_DEFAULT_NAMESPACE": NAMESPACE,
        "HAIL_TOKENS_FILE": str(tokens),
    }


def _write(file: Path, text: str) -> None:
    """Write a file that only its owner may read; another process sees the old one or the new."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.touch(mode=PRIVATE)
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(file)
