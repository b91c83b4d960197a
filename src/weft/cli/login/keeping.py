"""Where the token of `weft login` is kept, and for which server; and pages in a browser here."""

import os
import sys
from html import escape
from pathlib import Path
from typing import Any

from weft.client.http.address import login_file, parse_url
from weft.client.http.calls import Document
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


def find_browser() -> Any:  # noqa: ANN401 (the controllers of webbrowser have no common type)
    """Return a browser with windows of its own, or the one that BROWSER names; None: none."""
    import webbrowser  # noqa: PLC0415 (it looks for programs)

    has_windows = sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    try:
        return webbrowser.get() if has_windows else None
    except webbrowser.Error:
        return None


def open_privately(browser: Any, url: str, home: Path) -> bool:  # noqa: ANN401
    """Open a file that leads to a page: everybody here can see a program's arguments."""
    file = home / "login.html"
    try:
        file.unlink(missing_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        return False
    with os.fdopen(handle, "w") as page:
        page.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(url)}">')
    return bool(browser.open(file.as_uri()))
