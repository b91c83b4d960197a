"""Logins at issuers (OpenID Connect): a browser gets a session, `weft login` gets a token."""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager

from weft.api.services import Services
from weft.api.use_cases.sessions import SECRET_BYTES, record_opened, shown_browser
from weft.api.web_tokens.bearers import Bearer, IssuerAway, TokenRefused
from weft.api.web_tokens.providers import (
    Busy,
    LoginNotDone,
    NoDeviceFlow,
    Pending,
    Provider,
    challenge_of,
    refused_by_issuer,
)
from weft.core.access.browser_logins import BrowserLogin
from weft.core.access.token_text import new_token
from weft.core.errors import (
    IssuerAmbiguous,
    IssuerNotAnswering,
    IssuerNotFound,
    LoginRefused,
    NoDeviceLogin,
)
from weft.core.login_attempts import LoginAttempt
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.documents.logins import (
    DeviceLoginDocument,
    DevicePollDocument,
    LoginDocument,
    LoginEndDocument,
)


def provider_of(services: Services, tenant: str | None, issuer: str | None) -> Provider:
    """Return the issuer at which to log in. Raise `IssuerNotFound`, `IssuerAmbiguous`."""
    providers = services.providers.find(tenant, issuer)
    if not providers:
        raise IssuerNotFound(
            "there is no issuer at which to log in",
            detail="No entry of issuers_file has a client_id, or none with one is of this tenant "
            "and issuer.",
            hint="Log in with a token (WEFT_TOKEN), or ask whoever runs this server.",
        )
    if len(providers) > 1:
        raise IssuerAmbiguous(
            "there are several issuers at which to log in",
            detail="Neither the tenant nor the issuer that is asked for is that of one alone.",
            hint="Name the tenant: `weft login --tenant NAME`; or the issuer with --issuer.",
        )
    return providers[0]


async def begin(services: Services, document: LoginDocument) -> Answer:
    """Return where a browser on the caller's machine begins to log in."""
    provider = provider_of(services, document.tenant, document.issuer)
    with _explained(provider):
        url = await provider.authorization_url(
            redirect_uri=document.redirect_uri,
            state=document.state,
            nonce=document.nonce,
            challenge=document.code_challenge,
        )
    return {"issuer": provider.issuer, "url": url}


async def finish(services: Services, document: LoginEndDocument) -> tuple[Provider, Caller]:
    """Return whom a code is about. Raise `LoginRefused`."""
    provider = provider_of(services, document.tenant, document.issuer)
    with _explained(provider):
        bearer = await provider.exchange(
            document.code,
            verifier=document.code_verifier,
            redirect_uri=document.redirect_uri,
            nonce=document.nonce,
            named=document.iss,
        )
    return provider, await _admitted(services, provider, bearer)


async def begin_device(services: Services, document: DeviceLoginDocument) -> Answer:
    """Return what the caller types in, and where. Raise `NoDeviceLogin`."""
    provider = provider_of(services, document.tenant, document.issuer)
    with _explained(provider):
        code = await provider.begin_device()
    return {
        "issuer": provider.issuer,
        "device_code": code.device_code,
        "user_code": code.user_code,
        "verification_uri": code.verification_uri,
        "verification_uri_complete": code.verification_uri_complete,
        "expires_in_s": code.expires_in,
        "interval_s": code.interval,
    }


async def poll_device(
    services: Services, document: DevicePollDocument
) -> Pending | tuple[Provider, Caller]:
    """Return whom a device code is about, if somebody has typed it in. Raise `LoginRefused`."""
    provider = provider_of(services, document.tenant, document.issuer)
    with _explained(provider):
        found = await provider.poll_device(document.device_code)
    if isinstance(found, Pending):
        return found
    return provider, await _admitted(services, provider, found)


async def make_token(services: Services, provider: Provider, caller: Caller, name: str) -> Answer:
    """Make a token for a caller who has just logged in. Raise `TooManyTokens`."""
    token = new_token()
    created = await services.store.create_token(
        caller,
        token,
        name=name,
        scopes=None,
        valid_s=provider.login_s,
        tokens_max=services.settings.tokens_per_user_max,
    )
    log.info("token.created", token=created["token_id"], user=caller.user_name)
    return {
        "tenant": provider.tenant,
        "user": caller.user_name,
        "token_id": created["token_id"],
        "token": token,
        "expires_at": created["expires_at"],
    }


async def begin_in_browser(
    services: Services, tenant: str | None, issuer: str | None, redirect_uri: str
) -> tuple[BrowserLogin, str]:
    """Return a new login, and where its browser goes on."""
    provider = provider_of(services, tenant, issuer)
    login = BrowserLogin(secrets.token_urlsafe(SECRET_BYTES), provider.id, int(time.time()))
    with _explained(provider):
        url = await provider.authorization_url(
            redirect_uri=redirect_uri,
            state=login.state,
            nonce=login.nonce,
            challenge=challenge_of(login.verifier),
        )
    return login, url


async def finish_in_browser(
    services: Services,
    login: BrowserLogin | None,
    redirect_uri: str,
    *,
    state: str,
    code: str | None,
    named: str | None,
    error: tuple[str, str | None] | None,
) -> tuple[Provider, Caller]:
    """Return whom the issuer's answer is about that a browser brought. Raise `LoginRefused`."""
    if login is None or not secrets.compare_digest(state.encode(), login.state.encode()):
        raise _refused("This browser has not begun it, or another login since.")
    if login.is_over(time.time()):
        raise _refused("It has taken too long.")
    provider = services.providers.with_id(login.provider_id)
    if provider is None:
        raise _refused("Its issuer is no longer configured.")
    with _explained(provider):
        if named not in (None, provider.issuer):
            raise LoginNotDone("The answer is of another issuer.")
        if error is not None:
            raise refused_by_issuer(*error)
        if not code:
            raise LoginNotDone("The answer has no code.")
        bearer = await provider.exchange(
            code,
            verifier=login.verifier,
            redirect_uri=redirect_uri,
            nonce=login.nonce,
            named=named,
        )
    return provider, await _admitted(services, provider, bearer)


async def logout_url(services: Services, provider_id: str | None, back: str) -> str | None:
    """Return where a browser logs out at the issuer at which it has logged in; None: nowhere."""
    provider = None if provider_id is None else services.providers.with_id(provider_id)
    return None if provider is None else await provider.logout_url(back)


async def open_session(
    services: Services,
    provider: Provider,
    caller: Caller,
    login: BrowserLogin,
    *,
    browser: str,
    address: str,
) -> str:
    """Open a session for a caller who has just logged in, once for each login; return its secret.
    Raise `LoginRefused`.
    """
    session = secrets.token_urlsafe(SECRET_BYTES)
    number = await services.store.open_issuer_session(
        caller,
        session,
        login=f"login {login.state}",
        browser=shown_browser(browser),
        address=address,
        valid_s=min(provider.login_s, services.settings.session_valid_s),
        sessions_max=services.settings.sessions_per_user_max,
    )
    if number is None:
        login_of = LoginAttempt(tenant=provider.tenant, user=caller.user_name)
        raise _refused("It has opened a session already.", login_of)
    record_opened(number, caller)
    return session


async def _admitted(services: Services, provider: Provider, bearer: Bearer) -> Caller:
    """Return the user for whom the issuer vouches."""
    caller = await services.store.admit_user(
        bearer.tenant, bearer.user_name, bearer.role, may_create=bearer.may_create
    )
    if caller is None:
        log.info("login.refused", issuer=provider.issuer, why="no user")
        refused = LoginRefused(
            "you are no user here",
            detail=f"The issuer {provider.issuer} knows you as {bearer.user_name}; the tenant "
            f"{bearer.tenant} has no such user, or has removed them.",
            hint="Ask an administrator of the tenant to let you in: `weft user add`.",
        )
        refused.login = LoginAttempt(tenant=bearer.tenant, user=bearer.user_name)
        raise refused
    return caller


@contextmanager
def _explained(provider: Provider) -> Iterator[None]:
    """Turn what went wrong at an issuer into an error for people."""
    try:
        yield
    except LoginNotDone as error:
        log.info("login.refused", issuer=provider.issuer, why=str(error))
        cause = error.__cause__
        user = cause.user if isinstance(cause, TokenRefused) else None
        login = LoginAttempt(tenant=provider.tenant, user=user)
        raise _refused(str(error), login) from error
    except NoDeviceFlow as error:
        raise NoDeviceLogin(
            "the issuer does not let terminals log in by a code",
            detail=f"{provider.issuer} names no device endpoint.",
            hint="Log in where there is a browser, or with --no-browser.",
        ) from error
    except Busy as error:
        raise IssuerNotAnswering(
            "too many people log in at the moment",
            detail="Requests to issuers are under way, and their number is limited.",
            hint="Try again in a few seconds.",
        ) from error
    except IssuerAway as error:
        raise IssuerNotAnswering(
            "the issuer does not answer as it should",
            detail=f"It is {provider.issuer}.",
            hint="Try again later; the log of the api says why.",
        ) from error


def _refused(why: str, login: LoginAttempt | None = None) -> LoginRefused:
    error = LoginRefused(
        "the login is refused",
        detail=why,
        hint="Begin again, with `weft login` or on the page /login.",
    )
    error.login = login or LoginAttempt()
    return error
