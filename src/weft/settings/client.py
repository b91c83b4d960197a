"""Settings of clients, the command line among them."""

from dataclasses import dataclass
from pathlib import Path

from weft.settings.declare import section, setting
from weft.settings.home import HomeSettings


@section
class ClientSettings:
    """Where the server is, and who asks. Roles are not given these."""

    url: str | None = setting(None, "URL of the api; none: the one in the home's client.json")
    token: str | None = setting(
        None,
        "token of the client; none: that of `weft login`, or the one in the home's client.json",
        is_secret=True,
    )
    visit: str | None = setting(
        None, "tenant into which an administrator of the site looks; none: their own"
    )
    ca_file: Path | None = setting(
        None, "PEM file of the authorities that clients trust instead of the system's"
    )
    clean_env: bool = setting(
        default=False,
        help_="jobs of `weft run` and `weft each` do not get the caller's environment",
    )
    no_env: str = setting(
        "",
        "variables that `weft run` and `weft each` leave out: names with * and ?, between commas",
    )


@dataclass(frozen=True, kw_only=True)
class ClientProcessSettings(ClientSettings, HomeSettings):
    """The settings of a process that is only a client."""
