"""Sessions of browsers: a caller makes a link that opens one, lists them and ends them."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from weft.api.calls.call import ServerUrl, call
from weft.api.calls.path_ids import SessionId
from weft.api.services import Services
from weft.api.use_cases.tokens import require_no_scopes
from weft.core.access.rights import Right
from weft.core.access.sessions import csrf_token_of
from weft.core.errors import LoginLinkRefused, SessionNotFound
from weft.core.login_attempts import attempt_with
from weft.ports.store import Caller, Row
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.answers.sessions import LoginLink, Session, SessionsEnded

CODE_VALID_S: Final = 300.0
SECRET_BYTES: Final = 32
SECRET_CHARS_MAX: Final = 100
BROWSER_CHARS_MAX: Final = 256


@call("POST /v1/login-links", Right.KNOW_ONESELF, LoginLink)
async def create_login_link(services: Services, caller: Caller, server: ServerUrl) -> Answer:
    """Make a link that opens a session of the caller in a browser: once, and within five minutes.
    The caller's former link counts no more.
    """
    code, expires_at = await create_code(services, caller)
    log.info("login_link.created", user=caller.user_name)
    return {"url": f"{server}/login?code={code}", "expires_at": expires_at}


async def create_code(services: Services, caller: Caller) -> tuple[str, datetime]:
    """Return a code that opens one session of the caller, and when it expires."""
    # The session may do no more than the token that asks for it, and lasts no longer.
    code = secrets.token_urlsafe(SECRET_BYTES)
    return code, await services.store.create_login_code(
        caller, code, valid_s=CODE_VALID_S, session_s=caller.lasting()
    )


async def user_of_link(services: Services, code: str) -> Caller:
    """Return as whom a link would log in; it can still be used. Raise `LoginLinkRefused`."""
    caller = None
    if 0 < len(code) <= SECRET_CHARS_MAX:
        caller = await services.store.authenticate_code(code)
    if caller is None:
        raise _link_refused(code)
    return caller


async def log_in(
    services: Services, code: str, *, browser: str, address: str
) -> tuple[str, Caller]:
    """Open a session with the code of a link; return its secret, which nobody had before, and
    whose it is. Raise `LoginLinkRefused`.
    """
    session = secrets.token_urlsafe(SECRET_BYTES)
    caller = await services.store.open_session(
        code,
        session,
        browser=shown_browser(browser),
        address=address[:BROWSER_CHARS_MAX],
        valid_s=services.settings.session_valid_s,
        sessions_max=services.settings.sessions_per_user_max,
    )
    if caller is None:
        raise _link_refused(code)
    record_opened(caller.token_id, caller)
    return session, known_by(session, caller)


def record_opened(session_id: int, caller: Caller) -> None:
    """Log that a browser is logged in."""
    log.info("session.opened", session=session_id, user=caller.user_name)


def known_by(session: str, caller: Caller) -> Caller:
    """Return the caller of a session, with what their pages send along."""
    return replace(caller, csrf_token=csrf_token_of(session))


@call("GET /v1/sessions", Right.KNOW_ONESELF, page=Session)
async def list_sessions(services: Services, caller: Caller) -> Sequence[Row]:
    """Return one's sessions in browsers, the oldest first."""
    return await services.store.list_sessions(caller)


@call("DELETE /v1/sessions/{session}", Right.KNOW_ONESELF, SessionsEnded, client="")
async def end_session(services: Services, caller: Caller, session_id: SessionId) -> Answer:
    """End a session of the caller: every api refuses it from now on. Raise `SessionNotFound`;
    `RightMissing` for any other than itself, if the token that asks has scopes.
    """
    if session_id != caller.token_id:
        require_no_scopes(caller, "this token may not end sessions")
    if not await services.store.end_sessions(caller, session_id):
        raise SessionNotFound(
            f"session {session_id} does not exist",
            detail="You have no session with this number, or it has ended.",
            hint="List yours with `weft session ls`.",
        )
    log.info("session.ended", session=session_id, user=caller.user_name)
    return {"n_ended": 1}


@call("DELETE /v1/sessions", Right.KNOW_ONESELF, SessionsEnded, client="")
async def end_all_sessions(services: Services, caller: Caller) -> Answer:
    """End all sessions of the caller, and the login link that would open another: every api
    refuses them from now on. Raise `RightMissing` if the token that asks has scopes.
    """
    require_no_scopes(caller, "this token may not end sessions")
    n_ended = await services.store.end_sessions(caller)
    log.info("session.ended", session=None, user=caller.user_name)
    return {"n_ended": n_ended}


def _link_refused(code: str) -> LoginLinkRefused:
    error = LoginLinkRefused(
        "this login link cannot be used",
        detail=f"It was used before, is older than {CODE_VALID_S / 60:.0f} minutes, or another "
        "one was made since, or the token that made it was revoked.",
        hint="Make another one with `weft open`.",
    )
    error.login = attempt_with(code)
    return error


def shown_browser(browser: str) -> str:
    """Return what a browser calls itself, as it is stored."""
    return "".join(filter(str.isprintable, browser))[:BROWSER_CHARS_MAX] or "-"
