"""The files with which Hail's own client reaches this server."""

import json
from pathlib import Path
from typing import Final

from weft.registry.door import ClientSetup

NAMESPACE: Final = "default"
_MISLEADING: Final = ("HAIL_BASE_PATH", "HAIL_IDENTITY_PROVIDER_JSON")
"""Variables of another server, which the client would obey."""
_LOCATIONS: Final = {"http": "gce", "https": "external"}
"""How the client writes the scheme."""


def setup(url: str, token: str, folder: Path) -> ClientSetup:
    """Return the file of tokens, and the variables that Hail's client reads."""
    scheme, _, domain = url.partition("://")
    variables = {
        "HAIL_TERRA": "1",
        "HAIL_LOCATION": _LOCATIONS[scheme],
        "HAIL_DOMAIN": domain,
        "HAIL_DEFAULT_NAMESPACE": NAMESPACE,
        "HAIL_TOKENS_FILE": str(folder / "tokens.json"),
    }
    files = {"tokens.json": json.dumps({NAMESPACE: token}) + "\n"}
    return ClientSetup(files=files, variables=variables, misleading=_MISLEADING)
