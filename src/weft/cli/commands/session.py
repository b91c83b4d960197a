"""`weft open`, `weft logout` and `weft session`: the browsers in which a user is logged in."""

import sys
from contextlib import suppress

from weft.cli.input.options import SHARED, App, Number, Shared
from weft.cli.login.keeping import find_browser, forget_login, open_privately, server_of
from weft.cli.terminal.screen import at, moment, note, print_json, text
from weft.client.api import Api
from weft.client.http.address import KeptLogin, kept_login
from weft.core.errors import Conflict, TokenNotFound, Unauthenticated
from weft.core.text.amounts import counted
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
    shared.table(found, {
        "ID": "session_id", "Browser": text("browser", 40), "Address": text("address", 40),
        "Created": at("created_at"), "Expires": at("expires_at"),
        "Last used": at("last_used_at", "-"),
    }, right=("ID",), spare=("Created", "Last used"),
        empty="no browser is logged in as you; `weft open` logs one in")  # fmt: skip


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
