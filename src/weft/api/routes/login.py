"""The pages on which a browser logs in and out. What pages show of jobs is not here."""

from weft.api.html.render import HTML, render
from weft.api.http.browsers import (
    FORM,
    PAGE_POLICY,
    PAGES,
    read_form,
    refuse_origin,
    refuse_wrong_token,
)
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import OPEN, Response, get, post
from weft.api.http.trail import record_login
from weft.api.http.visits import visit_cookie_name
from weft.api.use_cases import logins, sessions
from weft.core.access.browser_logins import issuer_cookie_name, issuer_in
from weft.core.access.sessions import cookie_of, session_in
from weft.ports.store import Caller

MEDIA = "text/html"


@get("/login", OPEN, opt={"bytes": (MEDIA,), "query": ("code",), "refuses": (401,)})
async def show_login(request: AnyRequest) -> Response[bytes]:
    """Get the page of a login link, which asks whether to log in, and as whom; without a code:
    whether one is logged in. It changes nothing.
    """
    code = request.query.text("code")
    if code is not None:
        user = await sessions.user_of_link(request.services, code)
        return _page(request, code=code, user_name=user.user_name)
    caller = await _caller_of(request)
    return _page(request, caller=caller)


@post(
    "/login",
    OPEN,
    status_code=303,
    opt={"redirects": (MEDIA,), "reads": FORM, "refuses": (401, 403, 413)},
)
async def log_in(request: AnyRequest) -> Response[bytes]:
    """Open a session with the code of a login link, from its page, or with a token; the answer
    sets a cookie, ends the visit of an earlier session and leads to the pages.
    """
    scheme = request.scope["scheme"]
    refuse_origin(request.headers, scheme)
    services = request.services
    address = (request.scope["client"] or ("",))[0]
    form = await read_form(request)
    code = form.get("code", "")
    if token := form.get("token", "").strip():
        bearer = {"authorization": f"Bearer {token}"}
        assert services.callers is not None, "the application that serves this has them"
        caller = await services.callers.caller_of(bearer, scheme, address)
        code, _ = await sessions.create_code(services, caller)
    record_login(request.scope, await sessions.user_of_link(services, code), "log_in")
    session, _ = await sessions.log_in(
        services, code, browser=request.headers.get("user-agent", ""), address=address
    )
    cookie = cookie_of(session, scheme, services.settings.session_valid_s)
    headers = {"content-type": HTML, "location": PAGES, "set-cookie": cookie}
    answer = Response(render("leave.html", url=PAGES), headers=headers)
    # A session that expired may have left one.
    answer.cookies = [cookie_of("", scheme, 0, visit_cookie_name(scheme))]
    return answer


@post("/logout", OPEN, status_code=200, opt={"bytes": (MEDIA,), "refuses": (403, 413)})
async def log_out(request: AnyRequest) -> Response[bytes]:
    """End the session of this browser, from a page of this server. The answer leads to the issuer
    at which it has logged in, to log out there as well.
    """
    scheme = request.scope["scheme"]
    refuse_origin(request.headers, scheme)
    given = (await read_form(request)).get("csrf_token", "")
    caller = await _caller_of(request)
    if caller is not None and caller.csrf_token is not None:
        refuse_wrong_token(caller.csrf_token, given)
        record_login(request.scope, caller, "log_out")
        await sessions.end_session(request.services, caller, caller.token_id)
    url = await logins.logout_url(
        request.services,
        issuer_in(request.headers.get("cookie", ""), scheme),
        f"{scheme}://{request.headers.get('host', '')}/login",
    )
    answer = _page(request, cookie_of("", scheme, 0), logout_url=url)
    names = [visit_cookie_name(scheme)]
    if url is not None:
        names.append(issuer_cookie_name(scheme))
    answer.cookies = [cookie_of("", scheme, 0, name) for name in names]
    return answer


async def _caller_of(request: AnyRequest) -> Caller | None:
    session = session_in(request.headers.get("cookie", ""), request.scope["scheme"])
    if session is None:
        return None
    caller = await request.services.store.authenticate_session(session)
    return None if caller is None else sessions.known_by(session, caller)


def _page(request: AnyRequest, cookie: str | None = None, **values: object) -> Response[bytes]:
    """Return the page of logins. Its form may lead to an issuer, which its policy must allow."""
    headers = {"content-type": HTML, "content-security-policy": PAGE_POLICY}
    if cookie is not None:
        headers["set-cookie"] = cookie
    n_issuers = len(request.services.providers.find(None, None))
    known = {
        "code": None,
        "user_name": "",
        "caller": None,
        "n_issuers": n_issuers,
        "logout_url": None,
    }
    return Response(render("login.html", **known | values), headers=headers)
