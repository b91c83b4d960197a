"""Kubernetes's API. Who is not answered gets `Unavailable`; what is refused, `KubernetesRefused`.

It must not know what a pod is for.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from weft.core.bounded import read_json
from weft.core.errors import Unavailable, WeftError
from weft.plugins.runners.remote.calls import SAID_MAX, HttpCalls, LongText, Server
from weft_kubernetes.runner.config import Access
from weft_kubernetes.settings import KubernetesSettings

_HINT: Final = "The gateway asks again by itself; look at the cluster with `kubectl get nodes`."
_MERGE: Final = {"Content-Type": "application/merge-patch+json"}
_OK: Final = 200
_REFUSED: Final = 400
_UNKNOWN: Final = 401
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
_TWICE: Final = 409
_GONE: Final = 410
_BUSY: Final = 429
_SERVER: Final = 500
_WATCH_S: Final = 30
_LINE_MAX: Final = 4 << 20


class KubernetesRefused(WeftError, code="WORKER.KUBERNETES_REFUSED", status=400):
    """Kubernetes refuses a pod."""


class NoLog(Exception):
    """The node of a pod does not give what the pod wrote."""


class Gone(Exception):
    """The server does not know that version any more: list again."""


class KubernetesClient:
    """Asks about the pods of one namespace."""

    def __init__(self, access: Access, settings: KubernetesSettings) -> None:
        self._access = access
        self._namespace = settings.kubernetes_namespace
        answer_s = settings.kubernetes_answer_s
        server = Server("Kubernetes", access.host, access.port, access.tls, answer_s, _HINT)
        self._calls = HttpCalls(server)

    async def create(self, pod: object) -> Any | None:  # noqa: ANN401 (a document of theirs)
        """Return the new pod; None: there is one of this name already."""
        status, text = await self._calls.call("POST", self._path(), pod, self._headers())
        said = _said(text)
        if status == _TWICE and said.get("reason") == "AlreadyExists":
            return None
        if status == _NOT_FOUND:
            raise Unavailable(
                f"Kubernetes has no namespace {self._namespace}",
                hint="Create it, or set `kubernetes_namespace`.",
            )
        _check(status, said)
        return said

    async def create_secret(self, secret: object) -> None:
        """Make a Secret; one of this name is left as it is."""
        path = f"/api/v1/namespaces/{quote(self._namespace, safe='')}/secrets"
        status, text = await self._calls.call("POST", path, secret, self._headers())
        said = _said(text)
        if status != _TWICE or said.get("reason") != "AlreadyExists":
            _check(status, said)

    async def get(self, name: str) -> Any | None:  # noqa: ANN401 (a document of theirs)
        """Return a pod; None: there is none."""
        status, text = await self._calls.call("GET", self._path(name), None, self._headers())
        if status == _NOT_FOUND:
            return None
        said = _said(text)
        _check(status, said)
        return said

    async def listed(self, selector: str) -> tuple[list[Any], str]:
        """Return the pods of a selector, and the version at which they were so."""
        target = self._path(labelSelector=selector)
        status, text = await self._calls.call("GET", target, None, self._headers())
        found = _said(text)
        _check(status, found)
        return found["items"], str(found["metadata"]["resourceVersion"])

    async def metrics(self, selector: str) -> list[Any] | None:
        """Return what the pods of a selector use now; None: nobody measures it, or may say it."""
        words = ("apis", "metrics.k8s.io", "v1beta1", "namespaces", self._namespace, "pods")
        path = "/" + "/".join(quote(word, safe="") for word in words)
        target = f"{path}?{urlencode({'labelSelector': selector})}"
        status, text = await self._calls.call("GET", target, None, self._headers())
        return _said(text).get("items") if status == _OK else None

    async def patch(self, name: str, change: object) -> None:
        """Change a pod; a missing one is ignored."""
        await self._change("PATCH", self._path(name), change, _MERGE)

    async def delete(self, name: str, *, grace_s: int) -> None:
        """Delete a pod; a missing one is ignored."""
        await self._change("DELETE", self._path(name, gracePeriodSeconds=str(grace_s)), None, {})

    async def log(
        self, name: str, *, skip: int, bytes_max: int, head_bytes: int, is_live: bool = False
    ) -> LongText:
        """Return what a pod wrote, without its first bytes; nothing if its node has dropped that.
        `is_live`: without what is too long.
        Raise `NoLog` if the node does not answer, which may be so for ever.
        """
        status, found = await self._calls.read(
            self._path(name, "log", **({"limitBytes": str(skip + bytes_max)} if is_live else {})),
            self._headers(),
            bytes_max=bytes_max,
            head_bytes=head_bytes,
            skip=skip,
        )
        if status in {_REFUSED, _NOT_FOUND}:
            return LongText(b"")
        if status == _SERVER:
            raise NoLog(str(_said(found.head).get("message", ""))[:SAID_MAX])
        if status != _OK:
            _check(status, _said(found.head))
        return found

    async def watch(self, selector: str, version: str) -> AsyncIterator[Any]:
        """Yield what happens after a version, for a while. Raise `Gone`, `Unavailable`."""
        target = self._path(
            labelSelector=selector,
            watch="true",
            resourceVersion=version,
            allowWatchBookmarks="true",
            timeoutSeconds=str(_WATCH_S),
        )
        async with self._calls.stream(target, self._headers(), longer_s=_WATCH_S) as news:
            if (status := (await news.head()).status) != _OK:
                _check(status, _said(await news.body(_LINE_MAX)))
            async for line in news.lines(_LINE_MAX):
                event = read_json(line)
                if event["type"] == "ERROR":
                    _check(int(event["object"].get("code") or _SERVER), event["object"])
                yield event

    async def _change(
        self, method: str, target: str, body: object, headers: Mapping[str, str]
    ) -> None:
        sent = {**self._headers(), **headers}
        status, text = await self._calls.call(method, target, body, sent)
        if status != _NOT_FOUND:
            _check(status, _said(text))

    def _path(self, *words: str, **query: str) -> str:
        parts = ("api", "v1", "namespaces", self._namespace, "pods", *words)
        where = "/" + "/".join(quote(one, safe="") for one in parts)
        return f"{where}?{urlencode(query)}" if query else where

    def _headers(self) -> dict[str, str]:
        text = self._access.bearer
        if self._access.bearer_file is not None:
            try:
                text = self._access.bearer_file.read_text().strip()
            except OSError as error:
                raise Unavailable(
                    f"the gateway's token cannot be read: {error}",
                    hint="Let the gateway read the file that its kubeconfig names.",
                ) from error
        return {"Authorization": f"Bearer {text}"} if text else {}


def _said(text: bytes) -> Any:  # noqa: ANN401 (a document of theirs)
    try:
        found = read_json(text)
    except ValueError:
        return {"message": text.decode(errors="replace").strip()[:SAID_MAX]}
    return found if isinstance(found, dict) else {"message": str(found)[:SAID_MAX]}


def _check(status: int, answer: Mapping[str, Any]) -> None:
    if status < _REFUSED:
        return
    said = str(answer.get("message") or f"status {status}")[:SAID_MAX]
    if status == _GONE:
        raise Gone
    is_rights = status == _FORBIDDEN and " cannot " in said
    if status == _UNKNOWN or is_rights:
        raise Unavailable(
            f"Kubernetes refuses the gateway: {said}",
            hint="Give its account the role of docs/guides/kubernetes.md.",
        )
    if status == _FORBIDDEN and "exceeded quota" in said:
        raise Unavailable(f"the quota of the namespace is used up: {said}", hint=_HINT)
    if status in {_TWICE, _BUSY} or status >= _SERVER:
        raise Unavailable(f"Kubernetes is away: {said}", hint=_HINT)
    raise KubernetesRefused(
        f"Kubernetes refuses: {said}", hint="Change the job, or the settings of the gateway."
    )
