"""Logins of browsers at issuers: there and back. No address of a request is redirected to."""

from typing import Final

from weft.api.html.render import render
from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import OPEN, Response, get
from weft.api.http.trail import record_login
from weft.api.http.visits import visit_cookie_name
from weft.api.use_cases import logins
from weft.core.access.browser_logins import (
    VALID_S,
    issuer_cookie_name,
    login_cookie_name,
    login_in,
)
from weft.core.access.sessions import cookie_of

CALLBACK: Final = "/login/oidc/callback"
HTML: Final = "text/html"
VALUE_CHARS_MAX: Final = 4096


@get(
    "/login/oidc/start",
    OPEN,
    status_code=303,
    opt={"redirects": (HTML,), "query": ("tenant", "issuer"), "refuses": (404,)},
)
async def start_login(request: AnyRequest) -> Response[bytes]:
    """Lead a browser to the issuer of a tenant, or the only one, at which its user logs in."""
    query = request.query
    scheme = request.scope["scheme"]
    tenant, issuer = query.text("tenant"), query.text("issuer")
    login, url = await logins.begin_in_browser(
        request.services, tenant or None, issuer or None, _callback_of(request)
    )
    cookie = cookie_of(login.cookie, scheme, VALID_S, login_cookie_name(scheme))
    return _go_on(url, {"set-cookie": cookie})


@get(
    CALLBACK,
    OPEN,
    status_code=303,
    opt={
        "others": True,
        "once": True,  # the code of the issuer is spent
        "redirects": (HTML,),
        "query": (
            "issuer.code",
            "issuer.state",
            "issuer.iss",
            "issuer.error",
            "issuer.error_description",
        ),
        "refuses": (401,),
    },
)
async def finish_login(request: AnyRequest) -> Response[bytes]:
    """Open a session for a browser that comes back from the issuer; the answer sets a cookie."""
    query = Query(
        request.scope["query_string"],
        ("code", "state", "iss", "error", "error_description"),
        may_have_others=True,
    )
    error = _short(query, "error")
    scheme = request.scope["scheme"]
    login = login_in(request.headers.get("cookie", ""), scheme)
    services = request.services
    provider, caller = await logins.finish_in_browser(
        services,
        login,
        _callback_of(request),
        state=_short(query, "state") or "",
        code=_short(query, "code"),
        named=_short(query, "iss"),
        error=None if error is None else (error, _short(query, "error_description")),
    )
    assert login is not None
    record_login(request.scope, caller, "finish_login")
    client = request.scope["client"]
    session = await logins.open_session(
        services,
        provider,
        caller,
        login,
        browser=request.headers.get("user-agent", ""),
        address="" if client is None else client[0],
    )
    valid_s = min(provider.login_s, services.settings.session_valid_s)
    answer = _go_on("/ui", {})
    answer.cookies = [
        cookie_of(session, scheme, valid_s),
        cookie_of("", scheme, 0, login_cookie_name(scheme)),
        cookie_of("", scheme, 0, visit_cookie_name(scheme)),  # of an expired session
        cookie_of(provider.id, scheme, valid_s, issuer_cookie_name(scheme)),
    ]
    return answer


def _callback_of(request: AnyRequest) -> str:
    return f"{request.scope['scheme']}://{request.headers.get('host', '')}{CALLBACK}"


def _short(query: Query, name: str) -> str | None:
    value = query.text(name)
    if value is not None and len(value) > VALUE_CHARS_MAX:
        raise wrong_parameter(name, f"it has more than {VALUE_CHARS_MAX} characters")
    return value


def _go_on(url: str, headers: dict[str, str]) -> Response[bytes]:
    return Response(
        render("leave.html", url=url),
        status_code=303,
        media_type=HTML,
        headers={"location": url, **headers},
    )
