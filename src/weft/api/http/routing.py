"""Routes: which function answers a method and a path, what it says of itself (`opt`), and what it
is given and returns.
"""

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from types import EllipsisType, MappingProxyType, ModuleType
from typing import Any, Final, Generic, TypeVar, cast, get_args
from urllib.parse import quote, unquote

from weft.api.http.parameters import Query
from weft.api.services import Services
from weft.core.access.rights import Permission, Right
from weft.core.errors import InvalidParameter, MethodNotAllowed, RouteNotFound
from weft.ports.patience import tasks_beside
from weft.ports.store import Caller

Scope = MutableMapping[str, Any]  # as ASGI defines it
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Content_co = TypeVar("Content_co", bound=bytes | str, covariant=True)
_DEFAULT_STATUS: Final = {"POST": 201, "DELETE": 204}
LAST_S: Final = 0.5
"""How long the end of a stream whose caller lost it is tried to be told."""
_REST: Final = ":path}"
_HINT: Final = "`/openapi.json` lists every path with its methods."


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request, as ASGI gives it."""

    scope: Scope
    receive: Receive
    app: "Router"
    route: "Route"
    """The one that answers it."""

    @property
    def method(self) -> str:
        """Return the method in capitals."""
        return cast("str", self.scope["method"])

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers, by their names in lower case."""
        return cast("Mapping[str, str]", self.scope["state"]["headers"])

    @property
    def path_params(self) -> Mapping[str, str]:
        """Return the parts of the path by the names that the route has for them."""
        return cast("Mapping[str, str]", self.scope["path_params"])

    @property
    def services(self) -> Services:
        """Return the services of the application that serves it."""
        return cast("Services", self.scope["state"]["services"])

    @property
    def caller(self) -> Caller:
        """Return who sent it."""
        return cast("Caller", self.scope["state"]["caller"])

    @property
    def trace_id(self) -> str:
        """Return its trace id."""
        return cast("str", self.scope["state"]["trace_id"])

    @property
    def query(self) -> Query:
        """Return its parameters, of which there are only those that the route names."""
        return cast("Query", self.scope["state"]["query"])


class Response(Generic[Content_co]):
    """An answer. Without a status it has that of its route."""

    def __init__(
        self,
        content: Content_co,
        *,
        status_code: int | None = None,
        media_type: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._content = content
        self.status_code = status_code
        self.headers = {name.lower(): value for name, value in (headers or {}).items()}
        if media_type is not None:
            is_bare_text = media_type.startswith("text/") and "charset=" not in media_type
            charset = "; charset=utf-8" if is_bare_text else ""
            self.headers.setdefault("content-type", f"{media_type}{charset}")
        self.cookies: Sequence[str] = ()
        """More headers `Set-Cookie`."""

    async def answer(self, receive: Receive, send: Send, status: int) -> None:  # noqa: ARG002 (as a stream)
        """Send it."""
        content = self._content
        body = content.encode() if isinstance(content, str) else content
        self.headers["content-length"] = str(len(body))
        await self._start(send, status)
        await send({"type": "http.response.body", "body": body, "more_body": False})

    async def _start(self, send: Send, status: int) -> None:
        named = [*self.headers.items(), *(("set-cookie", cooky) for cooky in self.cookies)]
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named]
        start = {"type": "http.response.start", "status": self.status_code or status}
        await send({**start, "headers": raw})


class Redirect(Response[bytes]):
    """An answer that sends to another address."""

    def __init__(
        self, url: str, *, status_code: int, headers: Mapping[str, str] | None = None
    ) -> None:
        location = quote(url, safe="/#%[]=:;$&()+,!?*@'~")
        super().__init__(
            b"",
            status_code=status_code,
            media_type="text/plain",
            headers={"location": location, **(headers or {})},
        )


class Stream(Response[bytes]):
    """An answer in pieces, which ends when they do, when the client is gone, or when the caller
    may have it no longer. `resumes`: its client asks for the rest when it ends.
    """

    def __init__(
        self,
        pieces: AsyncIterator[bytes],
        *,
        resumes: bool = False,
        last: bytes | None = None,
        asked_by: "Callable[[Request], Awaitable[object]] | None" = None,
        **options: Any,  # noqa: ANN401 (those above)
    ) -> None:
        """`last`: the piece that tells a client that the right was lost; None: it is cut off.
        `asked_by`: raises if a request for it would be refused now; None: its route does, if that
        only reads.
        """
        super().__init__(b"", **options)
        self._pieces = pieces
        self.resumes = resumes
        self._last = b"" if resumes else last
        self.asked_by = asked_by
        self.until_lost: Callable[[], Coroutine[Any, Any, None]] | None = None
        """Returns when the caller may have it no longer; None: everybody may."""

    async def answer(self, receive: Receive, send: Send, status: int) -> None:
        await self._start(send, status)
        sending = asyncio.create_task(self._send_all(send))
        gone = asyncio.create_task(self.hear(receive))
        tasks = [sending, gone]
        if self.until_lost is not None:
            tasks.append(asyncio.create_task(self.until_lost()))
        async with tasks_beside(tasks):
            over, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in over - {gone}:
                task.result()
        if self._last is not None and not over & {sending, gone}:
            with suppress(TimeoutError):  # of a client that does not read
                async with asyncio.timeout(LAST_S):
                    await send({"type": "http.response.body", "body": self._last})

    async def hear(self, receive: Receive) -> None:
        """Read what the client sends, until it is gone."""
        while (await receive())["type"] != "http.disconnect":
            pass

    async def _send_all(self, send: Send) -> None:
        async with aclosing(cast("Any", self._pieces)) as pieces:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


Answer = Response[bytes] | Response[str]
AnswerError = Callable[[Request, Any], Answer]


@dataclass(frozen=True, kw_only=True, eq=False)
class Route:
    """One method of one path, or of several."""

    method: str
    paths: Sequence[str]
    """With `{name:str}` where any one part may stand, `{name:path}` for all the rest."""
    fn: Callable[..., Awaitable[Answer]]
    status_code: int
    """Of an answer that says none."""
    opt: Mapping[str, Any] = field(default_factory=dict)
    """What else it says of itself: its right, the documents that it reads and answers with."""
    include_in_schema: bool = True
    exception_handlers: Mapping[type[Exception], AnswerError] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str]:
        """Return method and path, as they are shown: `GET /v1/licences`."""
        return [f"{self.method} {path}" for path in self.path_formats]

    @property
    def streams(self) -> bool:
        """Say whether it may answer with a stream, as its function says that it returns one."""
        returned = self.fn.__annotations__.get("return")
        return Stream in (returned, *get_args(returned))

    @property
    def path_formats(self) -> Sequence[str]:
        """Return the paths as they are shown: `/v1/licences/{l}`."""
        return [path.replace(":str}", "}").replace(_REST, "}") for path in self.paths]


OPEN: Final = None
"""The right of a route for which no token is asked: whoever opens it in a browser, or logs in, has
no way to send one; it holds no secret. What logs in and out looks at the session, or asks the
issuer, by itself.
"""


def route(
    path: str | Sequence[str],
    right: Right | EllipsisType | None = ...,
    permission: Permission | None = None,
    *,
    method: str,
    status_code: int | None = None,
    query: Sequence[str] = (),
    opt: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,  # noqa: ANN401
) -> Callable[[Callable[..., Awaitable[Answer]]], Route]:
    """Make a route of a function of a request, or of nothing. Right and permission may stand in
    `opt`; the permission, on the batch that the path names, says what does not follow from the
    right: who may read a batch reads, all else changes it. So may `query`, the parameters that a
    request may have; with `others` in `opt`, or of a door, it may have any.
    """
    paths = [path] if isinstance(path, str) else path
    status = status_code or _DEFAULT_STATUS.get(method, 200)
    needs: dict[str, Any] = {} if right is ... else {"right": right}
    needs |= {"permission": permission} if permission else {}
    needs |= {"query": query} if query else {}
    return lambda fn: Route(
        method=method, paths=paths, fn=fn, status_code=status, opt={**needs, **opt}, **options
    )


get = partial(route, method="GET")
post = partial(route, method="POST")
put = partial(route, method="PUT")
patch = partial(route, method="PATCH")
delete = partial(route, method="DELETE")


@dataclass(slots=True)
class _Node:
    """Where paths with the same beginning part."""

    parts: "dict[str, _Node]" = field(default_factory=dict)
    any_part: "_Node | None" = None
    rest: "_Node | None" = None
    routes: dict[str, tuple[Route, str, list[str]]] = field(default_factory=dict)
    """By method: the route, its path as it is shown, and the names of its parameters."""


class Router:
    """Finds the route of a request and lets it answer (ASGI)."""

    def __init__(
        self,
        routes: Iterable[Route],
        rights: Mapping[str, Right | None],
        *,
        before: Callable[[Request], Awaitable[None]],
        answer_error: AnswerError,
    ) -> None:
        """`rights`: of each route, by method and path; `before`: called with each request for
        which there is a route; its errors are answered as those of the route are.
        """
        self.routes = tuple(routes)
        self.rights = rights
        self._before = before
        self._answer_error = answer_error
        self._root = _Node()
        for route in self.routes:
            for path, shown in zip(route.paths, route.path_formats, strict=True):
                self._add(route, path, shown)

    def _add(self, added: Route, path: str, shown: str) -> None:
        node, names = self._root, list[str]()
        for part in _parts(path):
            if part.startswith("{"):
                kind = "rest" if part.endswith(_REST) else "any_part"
                names.append(part[1:].partition(":")[0])
                child = getattr(node, kind) or _Node()
                setattr(node, kind, child)
                node = child
            else:
                node = node.parts.setdefault(part, _Node())
        if added.method in node.routes:
            raise LookupError(f"{added.method} {shown} has two routes")
        node.routes[added.method] = added, shown, names

    def methods(self, path: str) -> list[str]:
        """Return the methods that a path supports. Looking at a link must not use it up: a path
        whose GET counts once has no HEAD.
        """
        routes = self._find(path)[0].routes
        has_head = "GET" in routes and not routes["GET"][0].opt.get("once")
        return sorted([*routes, "OPTIONS", *(["HEAD"] if has_head else [])]) if routes else []

    def _find(self, path: str) -> tuple[_Node, list[str]]:
        node, values = self._root, list[str]()
        parts = _parts(path)
        for n, part in enumerate(parts):
            if part in node.parts:
                node = node.parts[part]
            elif node.any_part is not None:
                values.append(part)
                node = node.any_part
            elif node.rest is not None:
                return node.rest, [*values, "/" + "/".join(parts[n:])]
            else:
                return _Node(), []
        return node, values

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, self, _NONE)
        has_started = False

        async def note_start(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            request = self._request_of(scope, receive)
            await self._before(request)
            fn = request.route.fn
            answer = await (fn(request) if fn.__code__.co_argcount else fn())
            if isinstance(answer, Stream):
                self._watch(request, answer)
            await answer.answer(receive, note_start, request.route.status_code)
        except Exception as error:
            if has_started:
                raise
            handlers = request.route.exception_handlers
            handle = next(
                (handlers[kind] for kind in type(error).__mro__ if kind in handlers),
                self._answer_error,
            )
            await handle(request, error).answer(receive, send, request.route.status_code)

    def _watch(self, request: Request, stream: Stream) -> None:
        """Let a stream end when its caller may have it no longer."""
        if not request.route.streams:
            raise LookupError(f"{request.route.names} does not say that it returns a Stream")
        if "caller" not in request.scope["state"]:
            return
        ask = stream.asked_by or (request.route.fn if request.method == "GET" else None)

        async def ask_again() -> Caller:
            state = request.scope["state"]
            fresh = {**state, "caller": await state["find_caller"]()}
            asked = replace(request, scope={**request.scope, "state": fresh})
            await self._before(asked)
            assert ask is not None
            await ask(asked)
            return asked.caller

        again = None if ask is None or stream.resumes else ask_again
        stream.until_lost = partial(request.services.streams.until_lost, request.caller, again)

    def _request_of(self, scope: Scope, receive: Receive) -> Request:
        """Return the request with its route. Raise `RouteNotFound`, `MethodNotAllowed`."""
        path, method = scope["path"], scope["method"]
        if "\ufffd" in path:
            _check_encoding(scope)
        node, values = self._find(path)
        if not node.routes:
            raise RouteNotFound(
                f"the path {path[:200]} does not exist",
                detail="No route has this path.",
                hint=_HINT,
            )
        if method not in node.routes:
            refused = MethodNotAllowed(
                f"{path[:200]} does not support {method[:20]}",
                detail="The path exists, but has other methods.",
                hint=_HINT,
            )
            refused.allow = tuple(self.methods(path))
            raise refused
        route, shown, names = node.routes[method]
        params = dict(zip(names, values, strict=True))
        scope.update(path_template=shown, path_params=params, route=route)
        return Request(scope, receive, self, route)


def _check_encoding(scope: Scope) -> None:
    """Raise `InvalidParameter` if the path is not UTF-8: a server puts U+FFFD for such bytes, and
    then two paths would mean the same.
    """
    for part in scope.get("raw_path", b"").decode("latin-1").split("/"):
        try:
            unquote(part, errors="strict")
        except UnicodeDecodeError as error:
            raise InvalidParameter(
                "the path cannot be read",
                detail=f"The percent-encoded bytes of {part[:80]!r} are not UTF-8.",
                hint="Send it in UTF-8.",
            ) from error


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


async def _nothing() -> Answer:
    raise NotImplementedError


_NONE: Final = Route(method="", paths=(), fn=_nothing, status_code=500)
"""The route of a request that has none."""


def of_door(routes: Iterable[Route], name: str) -> Sequence[Route]:
    """Return the routes with the name of their door."""
    return [replace(route, opt={**route.opt, "door": name}) for route in routes]


def routes_in(*modules: ModuleType) -> Sequence[Route]:
    """Return the routes that these modules make."""
    names = [(module, one) for module in modules for one in vars(module).values()]
    return [
        one
        for module, one in names
        if isinstance(one, Route) and one.fn.__module__ == module.__name__
    ]
