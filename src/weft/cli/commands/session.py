"""`weft login`: get a token from a server by logging in at its issuer. `weft open`, `weft logout`
and `weft session`: the browsers in which a user is logged in.
"""

import socket
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from weft.cli.input.options import SHARED, App, Flag, Number, Shared
from weft.cli.login.flows import log_in_elsewhere, log_in_here
from weft.cli.login.keeping import (
    find_browser,
    forget_login,
    keep_login,
    open_privately,
    server_of,
)
from weft.cli.terminal.screen import at, moment, note, one_line, plain, print_json, text
from weft.client.api import Api
from weft.client.http.address import KeptLogin, kept_login
from weft.client.http.blocking import run
from weft.client.http.calls import Document
from weft.core.errors import Conflict, NoDeviceLogin, TokenNotFound, Unauthenticated, WeftError
from weft.core.text.amounts import counted
from weft.run.home import explained
from weft.settings import load_settings

app = App(name="session", help="List and end your sessions in browsers.\n\n    weft session ls")


class LinkNotShown(Conflict, code="CLI.LINK_NOT_SHOWN"):
    """A login link would end up in a file or a log."""


def open_browser(*, shared: Shared = SHARED) -> None:
    """Make a link that logs a browser in as you, print it, and open it if there is a browser here.

        weft open

    The link works once, for five minutes; another one replaces it. It is shown on
    a terminal only.
    """
    home = load_settings({"home": shared.home}).home
    may_show = sys.stdout.isatty() and not shared.json
    browser = find_browser()
    if browser is None and not may_show:
        raise LinkNotShown(
            "the login link is shown on a terminal only",
            detail="Standard output is none, and no browser was found here.",
            hint="Run `weft open` in a terminal, without --json.",
        )
    found = shared.ask(lambda client: client.create_login_link())
    is_open = browser is not None and open_privately(browser, found["url"], home)
    if shared.json:
        print_json({"opened": is_open, "expires_at": found["expires_at"]})
    elif may_show:
        sys.stdout.write(f"{found['url']}\n")
    if not shared.json:
        note(f"the link works once, until {moment(found['expires_at'])}; show it to nobody")


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List your sessions in browsers, the oldest first.

    weft session ls
    """
    found = shared.ask(lambda client: client.list_sessions())
    shared.table(
        found,
        {
            "ID": "session_id",
            "Browser": text("browser", 40),
            "Address": text("address", 40),
            "Created": at("created_at"),
            "Expires": at("expires_at"),
            "Last used": at("last_used_at", "-"),
        },
        right=("ID",),
        spare=("Created", "Last used"),
        empty="no browser is logged in as you; `weft open` logs one in",
    )


@app.command(name="rm")
def remove(session_id: Number, /, *, shared: Shared = SHARED) -> None:
    """End one of your sessions: its browser is logged out.

        weft session rm 7

    Args:
        session_id: Its number, as `weft session ls` shows it.
    """
    shared.ask(lambda client: client.end_sessions(session_id))
    shared.tell({"session_id": session_id}, f"session {session_id} has ended")


def logout(*, shared: Shared = SHARED) -> None:
    """End all your sessions in browsers, and the login link that is not used yet; revoke the token
    of `weft login`.

        weft logout

    Other tokens go on; `weft token revoke` ends one.
    """
    settings = load_settings({"home": shared.home})
    kept = None
    if settings.url is not None and settings.token is None:
        kept = kept_login(settings.home, server_of(settings))
    n_ended = shared.ask(lambda client: _log_out(client, kept))
    if kept is not None:
        forget_login(settings.home, server_of(settings))
    if shared.as_json({"n_ended": n_ended, "token_id": None if kept is None else kept.token_id}):
        return
    note(f"logged out of {counted(n_ended, 'browser')}")
    if kept is not None:
        note("the token of `weft login` is revoked")


async def _log_out(client: Api, kept: KeptLogin | None) -> int:
    """End what the server knows of; a login that it knows no more is only to be forgotten."""
    try:
        n_ended = await client.end_sessions()
        if kept is not None:
            with suppress(TokenNotFound):
                await client.revoke_token(kept.token_id)
    except Unauthenticated:
        if kept is None:
            raise
        return 0
    return n_ended


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
