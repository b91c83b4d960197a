"""Ray's API of jobs, and of the files that nodes keep of them, both at its dashboard.

Who is not answered gets `Unavailable`; what is refused, `RayRefused`.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from weft.core.bounded import read_json
from weft.core.errors import Invalid, Unavailable, WeftError
from weft.plugins.runners.remote.calls import SAID_MAX, HttpCalls, LongText, server_at
from weft_ray.settings import RaySettings

_HINT: Final = "The gateway asks again by itself; look at the cluster with `ray status`."
_PORT: Final = 8265
_REFUSED: Final = 400
_RIGHTS: Final = (401, 403)
_NOT_FOUND: Final = 404
_TAKEN: Final = "already exists"
_REFUSED_INSIDE: Final = "status code 400"
"""What the dashboard says of a request that an agent has refused, with status 500."""
_LIVES: Final = "non-terminal state"
_NO_FILE: Final = "A file is not found"
_NO_NODE: Final = "doesn't exist"
_WORD_MIN: Final = 4


class RayRefused(WeftError, code="WORKER.RAY_REFUSED", status=400):
    """Ray refuses a job."""


class WrongRayAddress(Invalid, code="WORKER.WRONG_RAY_ADDRESS"):
    """The setting `ray_address` is no address."""


class NoNode(Exception):
    """Ray knows no such node any more."""


class RayJob(msgspec.Struct, frozen=True):
    """What Ray says of a job."""

    status: str
    submission_id: str | None = None
    message: str | None = None
    error_type: str | None = None
    start_time: int | None = None
    """When it was submitted; in milliseconds, as its end."""
    end_time: int | None = None
    metadata: dict[str, str] | None = None
    driver_node_id: str | None = None
    driver_exit_code: int | None = None

    @property
    def is_over(self) -> bool:
        """Return whether nothing of it runs, or ever will."""
        return self.status in _ENDS


class _Files(msgspec.Struct):
    result: dict[str, list[str]]


class _Listed(msgspec.Struct):
    data: _Files


class _Taken(msgspec.Struct):
    submission_id: str


class _Stopped(msgspec.Struct):
    stopped: bool


_ENDS: Final = frozenset({"STOPPED", "SUCCEEDED", "FAILED"})


class RayClient:
    """Asks Ray, and says what it answers."""

    def __init__(self, settings: RaySettings) -> None:
        server = server_at(
            "Ray", settings.ray_address, _PORT, settings.ray_ca, settings.ray_answer_s, _HINT
        )
        if server is None:
            raise WrongRayAddress(
                f"not an address of Ray: {settings.ray_address!r}",
                hint="Set `ray_address` to something like http://ray.example:8265.",
            )
        self._calls = HttpCalls(server)
        self._headers = (
            {"Authorization": f"Bearer {settings.ray_token}"} if settings.ray_token else {}
        )

    async def jobs(self) -> list[RayJob]:
        """Return all jobs of the cluster, also those of others."""
        found: list[RayJob] = read_json(await self._asked("GET", "/api/jobs/"), list[RayJob])
        return found

    async def job(self, number: str) -> RayJob | None:
        """Return a job; None: there is none."""
        status, text = await self._call("GET", _path(number))
        if status == _NOT_FOUND:
            return None
        _check(status, text)
        found: RayJob = read_json(text, RayJob)
        return found

    async def submit(self, job: Mapping[str, Any]) -> bool:
        """Give Ray a job. Return whether its name was free."""
        status, text = await self._call("POST", "/api/jobs/", job)
        if status >= _REFUSED and _TAKEN.encode() in text:
            return False
        _check(status, text)
        return bool(read_json(text, _Taken).submission_id)

    async def stop(self, number: str) -> bool:
        """Stop a job. Return whether there was anything to stop."""
        status, text = await self._call("POST", f"{_path(number)}/stop")
        if status == _NOT_FOUND:
            return False
        _check(status, text)
        found: _Stopped = read_json(text, _Stopped)
        return found.stopped

    async def delete(self, number: str) -> bool:
        """Let Ray forget a job. Return whether it is forgotten: what lives stays."""
        status, text = await self._call("DELETE", _path(number))
        if status >= _REFUSED and _LIVES.encode() in text:
            return False
        if status != _NOT_FOUND:
            _check(status, text)
        return True

    async def read(
        self,
        node: str,
        file: str,
        *,
        skip: int,
        bytes_max: int,
        head_bytes: int,
        is_live: bool = False,
    ) -> LongText | None:
        """Return what a node keeps in a file of its logs, without its first bytes; None: there is
        no such file. `is_live`: without what is too long. Raise `NoNode`.
        """
        status, found = await self._calls.read(
            f"/api/v0/logs/file?{urlencode({'node_id': node, 'filename': file, 'lines': -1})}",
            self._headers,
            skip=skip,
            bytes_max=bytes_max,
            head_bytes=head_bytes,
            is_live=is_live,
        )
        if status >= _REFUSED:
            if _NO_FILE.encode() in found.head:
                return None
            _check_node(found.head)
            _check(status, found.head)
        return found

    async def files(self, node: str, folder: str) -> set[str]:
        """Return the names of the files in a folder of a node's logs. Raise `NoNode`."""
        words = urlencode({"node_id": node, "glob": f"{folder}/*"})
        status, text = await self._call("GET", f"/api/v0/logs?{words}")
        _check_node(text)
        _check(status, text)
        found = read_json(text, _Listed).data.result
        return {one.rpartition("/")[2] for some in found.values() for one in some}

    async def _asked(self, method: str, target: str) -> bytes:
        status, text = await self._call(method, target)
        _check(status, text)
        return text

    async def _call(self, method: str, target: str, body: object = None) -> tuple[int, bytes]:
        return await self._calls.call(method, target, body, self._headers)


def _path(number: str) -> str:
    return f"/api/jobs/{quote(number, safe='')}"


def _check_node(text: bytes) -> None:
    if b"node" in text and _NO_NODE.encode() in text:
        raise NoNode


def _check(status: int, text: bytes) -> None:
    if status < _REFUSED:
        return
    said = _said(text)
    if status in _RIGHTS:
        raise Unavailable(f"Ray refuses the gateway: {said}", hint="Set `ray_token`.")
    if status == _REFUSED or _REFUSED_INSIDE.encode() in text:
        raise RayRefused(
            f"Ray refuses: {said}", hint="Change the job, or the settings of the gateway."
        )
    raise Unavailable(f"Ray is away: {said}", hint=_HINT)


def _said(text: bytes) -> str:
    """Return what an answer says: of a traceback its last line."""
    lines = [line.strip() for line in text.decode(errors="replace").splitlines()]
    told = [line for line in lines if len(line) >= _WORD_MIN]
    return told[-1][:SAID_MAX] if told else "nothing"
