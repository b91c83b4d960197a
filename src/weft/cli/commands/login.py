"""`weft login`: get a token from a server by logging in at its issuer."""

import socket
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from weft.cli.input.options import SHARED, Flag, Shared
from weft.cli.login.flows import log_in_elsewhere, log_in_here
from weft.cli.login.keeping import find_browser, keep_login, open_privately, server_of
from weft.cli.terminal.screen import moment, note, one_line, plain
from weft.client.http.address import kept_login
from weft.client.http.blocking import run
from weft.client.http.calls import Document
from weft.core.errors import NoDeviceLogin, WeftError
from weft.run.home import explained
from weft.settings import load_settings

PATIENCE_S: Final = 5.0
"""A code is asked for at the pace of the issuer, not again and again while that is away."""


def login(
    *,
    tenant: str | None = None,
    issuer: str | None = None,
    device: Flag = False,
    no_browser: Flag = False,
    shared: Shared = SHARED,
) -> int:
    """Log in to a server at the issuer that knows you, and keep a token for it.

        weft login

    Opens a browser; without one here, prints a code to be typed in with any other.
    Commands then use the token for this server until it expires, or `weft logout`.

    Args:
        tenant: The tenant, if the server has issuers for several.
        issuer: The issuer, if the tenant has several.
        device: Print a code, even if there is a browser here.
        no_browser: Print the address instead of opening it; the browser must be on this machine.
    """
    settings = load_settings({"home": shared.home})
    url = server_of(settings)
    former = kept_login(settings.home, url)
    asked = {"tenant": tenant, "issuer": issuer}
    browser = None if device or no_browser else find_browser()

    async def log_in() -> Document:
        name, done = f"weft login on {socket.gethostname()}"[:256], None
        lead = partial(_lead, browser, settings.home)
        async with shared.client(patience_s=PATIENCE_S) as client:
            if device or (browser is None and not no_browser):
                try:
                    done = await log_in_elsewhere(client, asked, name, _show_code)
                except NoDeviceLogin:
                    if device:
                        raise
            done = done or await log_in_here(client, asked, name, lead)
            if former is not None and settings.token is None:
                with suppress(WeftError):  # it may have ended
                    await client.revoke_token(former.token_id)
        return done

    done = run(log_in())
    keep_login(settings.home, url, done)
    _report(done, url, shared, is_overridden=settings.token is not None)
    return 0


def _lead(browser: Any, home: Path, address: str) -> None:  # noqa: ANN401 (as find_browser)
    """Open the page of the issuer, or say where it is."""
    if browser is not None:
        with explained(home):
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if open_privately(browser, address, home):
            note("go on in the browser")
            return
    note("open this page in a browser on this machine:")
    sys.stderr.write(f"{plain(address)}\n")
    sys.stderr.flush()


def _show_code(begun: Document) -> None:
    note(f"open {one_line(begun['verification_uri'], width=2048)} on any machine, and type in")
    sys.stderr.write(f"  {one_line(begun['user_code'])}\n")
    if begun["verification_uri_complete"]:
        complete = one_line(begun["verification_uri_complete"], width=2048)
        sys.stderr.write(f"  or open {complete}\n")
    sys.stderr.flush()


def _report(done: Document, url: str, shared: Shared, *, is_overridden: bool) -> None:
    shown: dict[str, Any] = {name: one for name, one in done.items() if name != "token"}
    if not shared.as_json({"url": url, **shown}):
        who = f"{one_line(done['user'], width=64)} of tenant {one_line(done['tenant'], width=64)}"
        note(f"you are logged in as {who}, until {moment(done['expires_at'])}")
    if is_overridden:
        note("commands still use the token of WEFT_TOKEN or weft.toml")
