"""Where the token of `weft login` is kept, and for which server."""

from pathlib import Path

from weft.client.http.address import login_file, parse_url
from weft.client.http.listing import Document
from weft.core.errors import Conflict
from weft.run.home import explained, write_private
from weft.settings import Settings


class LoginNotNeeded(Conflict, code="CLI.LOGIN_NOT_NEEDED"):
    """The server of the home gives its owner a token without being asked."""


def server_of(settings: Settings) -> str:
    """Return the address of the server for which a login counts. Raise `LoginNotNeeded`."""
    if settings.url is None:
        raise LoginNotNeeded(
            "no server is named at which to log in",
            detail="Commands use the server of your own home, and its token, which need no login.",
            hint="Name the server: WEFT_URL=https://weft.example weft login",
        )
    return parse_url(settings.url, None).url


def keep_login(home: Path, url: str, login: Document) -> None:
    """Keep a login, where nobody else may read it. Raise `HomeNotUsable`."""
    file = login_file(home, url)
    with explained(home):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_private(file, {"url": url, **login})


def forget_login(home: Path, url: str) -> None:
    """Forget a login. Raise `HomeNotUsable`."""
    with explained(home):
        login_file(home, url).unlink(missing_ok=True)
