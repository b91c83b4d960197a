"""The application: routes, doors, errors, and the middleware around them."""

import asyncio
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache, partial
from typing import Final

from weft.api import routes
from weft.api.feeds import Feeds
from weft.api.html.assets import PREFIX
from weft.api.http.changes import forget_what_changes
from weft.api.http.decoding import JSON, decode
from weft.api.http.doors import ApiDoor, DoorPaths
from weft.api.http.event_stream import encode_event
from weft.api.http.failed_logins import LoginFailures
from weft.api.http.forwarded import ReadForwarded
from weft.api.http.identity import Identities
from weft.api.http.middleware import AnswerHead, AnswerOptions, add_middleware
from weft.api.http.open_requests import OpenRequests
from weft.api.http.pages import note_moment
from weft.api.http.parameters import Query
from weft.api.http.parts import ApiPart
from weft.api.http.problem_documents import as_weft_error, refusal_of
from weft.api.http.rate_limits import FailedLogins, RateLimits
from weft.api.http.requests import AnyRequest
from weft.api.http.right_checks import Table, check_right, rights_of
from weft.api.http.routing import Receive, Response, Route, Router, Scope, Send, of_door, routes_in
from weft.api.http.visits import Visits
from weft.api.routes import declared, v1
from weft.api.services import Services
from weft.api.use_cases.schedules import ScheduleRuns
from weft.api.web_tokens.issuers import read_issuers
from weft.api.web_tokens.providers import Providers
from weft.core.access.rights import Permission
from weft.core.access.trusted_proxies import parse_networks
from weft.core.errors import Internal
from weft.core.packages import modules_of
from weft.ports.evaluation import Evaluates, EvaluatesNothing
from weft.ports.extension import parts
from weft.ports.file_store import FileStore, UrlReader
from weft.ports.log_store import LogStore
from weft.ports.lookup import AsksLookUps
from weft.ports.object_stores import ObjectStores
from weft.ports.running_files import RunningFiles
from weft.ports.sink import MakeMessage
from weft.ports.source import ReadsSources
from weft.ports.store import Notices
from weft.ports.worker_link import ServedLink
from weft.settings import Settings
from weft.settings.transports_file import known_transports
from weft.store import ApiStore
from weft.telemetry.log import log
from weft.wire.documents.batches import BatchDocument
from weft.wire.sealed import SecretKeys

_PARTS: Final[Sequence[ApiPart]] = tuple(parts("api"))
ROUTES: Final[Sequence[Route]] = (
    *declared.ROUTES,
    *(route for part in (routes, v1) for route in routes_in(*modules_of(part))),
    *(route for part in _PARTS for route in part.routes),
)
"""Those of extensions included, but for doors."""
PERMISSIONS_OF_ROUTES: Final[Mapping[str, Permission]] = {
    name: route.opt["permission"]
    for route in ROUTES
    if "permission" in route.opt
    for name in route.names
}


class Application:
    """The api as an ASGI application. `close` ends its streams, so that the server can stop."""

    def __init__(
        self,
        router: Router,
        services: Services,
        notices: Notices,
        identities: Identities,
        doors: Sequence[ApiDoor] = (),
    ) -> None:
        self.router = router
        self.rights: Table = router.rights
        self.services = services
        self.schedule_runs = ScheduleRuns(
            services, notices, lambda body: decode(body, JSON, BatchDocument)
        )
        """Run it beside the server: what schedules submit."""
        self.beside = [
            part(services, notices, lambda body, kind: decode(body, JSON, kind))
            for part in parts("beside_api")
        ]
        """Run each beside the server: what extensions do there."""
        inside = AnswerHead(AnswerOptions(router, router.methods), router.methods)
        rights = self.rights.items()
        open_paths = {name.partition(" ")[2] for name, right in rights if right is None}
        trusted = parse_networks(services.settings.trusted_proxies)
        rates = services.settings.requests_per_s, services.settings.user_requests_per_s
        limits = RateLimits(*rates) if any(rates) else None
        record = services.store.record_request
        is_open = partial(_is_open, open_paths)
        self._login_failures = LoginFailures(services.store)
        inner = add_middleware(
            inside,
            identities,
            is_open,
            record,
            limits,
            self._login_failures,
            Visits(services.store),
            DoorPaths(doors),
            OpenRequests(services.settings.tenant_requests_max),
        )
        self._app = ReadForwarded(inner, trusted)
        self.asked = asyncio.Event()
        """Is set by each request."""
        self.forget_changes = partial(
            forget_what_changes, notices, identities, services.queues, services.streams.forget
        )
        """Run it beside the server: tokens that are revoked are refused at once, and their streams
        end; jobs go by the queues of now.
        """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.set()
        scope.setdefault("state", {})["services"] = self.services
        await self._app(scope, receive, send)

    def close(self) -> None:
        """End all streams cleanly. Safe to repeat."""
        self.services.closing.set()
        self.services.feeds.tell_all()

    async def finish(self) -> None:
        """Leave nothing behind in the database; call it when the server has stopped."""
        self.services.readiness.stop()
        await self.services.feeds.finish()
        await self._login_failures.finish()


def create_app(
    store: ApiStore,
    notices: Notices,
    logs_: LogStore,
    settings: Settings,
    *,
    callback_key: str | None = None,
    secret_keys: Callable[[], SecretKeys] | None = None,
    doors: Sequence[ApiDoor] = (),
    link: ServedLink | None = None,
    files_: Callable[[str], FileStore] | None = None,
    running: RunningFiles | None = None,
    look_ups: AsksLookUps | None = None,
    objects: ObjectStores | None = None,
    web: UrlReader | None = None,
    source_trials: ReadsSources | None = None,
    make_message: MakeMessage | None = None,
    evaluation: Evaluates | None = None,
) -> Application:
    """Return the application. Call it inside the event loop that will serve it."""
    services = Services(
        store=store,
        logs=logs_,
        settings=settings,
        feeds=Feeds(store, notices, encode_event),
        callback_key=callback_key,
        secret_keys=secret_keys or SecretKeys,
        link=link,
        files=files_,
        running=running,
        look_ups=look_ups,
        objects=objects,
        web=web,
        source_trials=source_trials,
        make_message=make_message,
        evaluation=evaluation or EvaluatesNothing(),
    )
    services.transports = known_transports(settings.transports_file)
    web_tokens = None
    if settings.issuers_file is not None:
        # Its library takes a tenth of a second to load, which most installations need not spend.
        from weft.api.web_tokens.verify import WebTokens  # noqa: PLC0415

        issuers = read_issuers(settings.issuers_file)
        web_tokens = WebTokens(issuers)
        services.providers = Providers(issuers, web_tokens)
    failed_logins = FailedLogins(settings.failed_logins_per_s)
    identities = Identities(store, web_tokens, failed_logins=failed_logins)
    services.callers = identities
    return Application(_routed(tuple(doors)), services, notices, identities, doors)


@cache
def _routed(doors: Sequence[ApiDoor]) -> Router:
    """Return the routes. They know nothing of their services, which come with each request: so a
    process that makes several applications prepares them once.
    """
    routes = [*ROUTES, *(one for door in doors for one in of_door(door.routes, door.name))]

    async def before(request: AnyRequest) -> None:
        check_right(request)
        options = request.route.opt
        if not options.keys() & {"door", "others"}:  # which read it by themselves
            query = Query(request.scope["query_string"], options.get("query", ()))
            request.scope["state"]["query"] = query
        await note_moment(request)

    return Router(routes, rights_of(routes), before=before, answer_error=_answer_error)


def route_rights(doors: Sequence[ApiDoor] = ()) -> Table:
    """Return the right of each route, those of these doors included."""
    return _routed(tuple(doors)).rights


def _is_open(paths: Container[str], path: str) -> bool:
    """Say whether a path asks for no token: one of these, or a part of a page."""
    return path in paths or path.startswith(f"{PREFIX}/")


def _answer_error(request: AnyRequest, error: Exception) -> Response[bytes]:
    """Reply with a problem document, or as the door of the path says it; log a mistake of our own
    with its traceback.
    """
    scope = request.scope
    known = as_weft_error(error)
    state = scope["state"]
    state["error"] = known.code
    if known.login is not None:
        state["login"] = known.login
    if isinstance(known, Internal):
        log.error("request.failed", path=scope["path"], exc_info=error)
    elif isinstance(error, OSError):  # which may name the file
        log.warning("request.disk_full", path=scope["path"], error=f"{error}")
    status, headers, body = refusal_of(known, scope)
    return Response(body, status_code=status, headers=headers)
