"""The door for Hail's own client: `/api/v1alpha` and `/api/v2alpha`, as `hailtop` 0.2.139 uses
them.

Its routes answer by Hail's contract: errors are a status and a text, lists have pages of exactly
fifty, and a request with a token that is known is a repeat, whatever else it says.
`docs/guides/coming-from-hail.md` says what is the same and what differs.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from weft.registry.door import ClientFiles, ClientSetup, Door

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


if TYPE_CHECKING:
    from weft.api.http.doors import ApiDoor
    from weft.driver.callback_forms import CallbackForm


def _api() -> "ApiDoor":
    from weft_hail.routes import SERVED  # noqa: PLC0415 (the api alone needs routes)

    return SERVED


def _callbacks() -> "CallbackForm":
    from weft_hail.batch_documents import FORM  # noqa: PLC0415 (the driver alone needs it)

    return FORM


DOOR: Final = Door(
    name="hail",
    title="Hail's client",
    api=_api,
    callbacks=_callbacks,
    client=ClientFiles(
        sentence="Write what Hail's own client needs to reach this server.",
        page="Write the files with which Hail's own client reaches this server: `env`, which sets "
        "its\nvariables, and `tokens.json`.",
        setup=setup,
    ),
    own_path="/io",
)
