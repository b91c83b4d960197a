"""`POST /v1/batches/{b}/jobs/{j}/exec`: a command beside a running job."""

import asyncio
import shlex
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from weft.api.http.decoding import JSON, decode
from weft.api.http.parameters import batch_id_of, job_id_of
from weft.api.http.parts import ApiPart
from weft.api.http.requests import AnyRequest, body_of, in_time
from weft.api.http.routing import Receive, Send, Stream, post
from weft.api.http.trail import PATH_CHARS_MAX, action_of
from weft.api.services import Services
from weft.api.use_cases.files import live_attempt
from weft.core.access.rights import Permission, Right
from weft.core.access.secret_variables import hides, patterns_of
from weft.core.bounded import read_json
from weft.core.errors import (
    BatchNotFound,
    ExecElsewhere,
    InvalidValue,
    JobNotRunning,
    MalformedBody,
    WeftError,
    error_classes,
)
from weft.core.ids import format_job_ref
from weft.plugins.runners.spawner.beside import Channel, begin
from weft.ports.patience import tasks_beside
from weft.ports.running_files import RunningAttempt
from weft.ports.store import ACTION, Caller, Row
from weft.ports.worker_link import CarriedCommand
from weft.run.home import Home
from weft.run.host.worker_name import file_name
from weft.settings import Settings
from weft.submission.owners import require_owner
from weft.wire import exec as wire
from weft.wire.spec import JobSpec
from weft_exec.pace import ACTS_PER_S, INPUTS_PER_S, Acts, Pace

_LOST: Final = wire.frame(
    wire.END, msgspec.json.encode(wire.Ended(None, why="you may run it no longer"))
)
_ACTS: Final = {wire.SIGNAL, wire.RESIZE, wire.ALIVE}
_RELAY: Final = ("-I", "-S", "-c", Path(__file__).with_name("relay.py").read_text())


@post(
    "/v1/batches/{b:str}/jobs/{j:str}/exec",
    Right.EXEC,
    Permission.ALL,
    status_code=200,
    opt={"reads": wire.MEDIA, "bytes": (wire.MEDIA,), "refuses": (408, 409)},
)
async def exec_job(request: AnyRequest) -> Stream:
    """Run a command beside a running job: as its user, in its directory, environment and cgroup.
    Both bodies are frames, a byte for the kind and four for the length. Sent are 0, a document
    `{"command": [...]}`, then 1 input (none: its end) and 2 a byte, the number of a signal; at
    most 256 KiB of input that were not taken. Answered are 0, how many bytes of input were taken,
    in digits, 1 standard output, 2 standard error, and 3, `["ended", exit_code, with_job, why]`.
    With `"terminal": {"rows": 24, "columns": 80, "name": "xterm"}` its streams are a terminal that
    writes 1, and a sent 3 with two numbers of two bytes, rows and columns, resizes it.
    The command ends when this request does, and with its job.
    With `"port": 8888` and no command it is a relay to that port as the job sees it, which carries
    many connections in input and output; its frames are in `weft_exec/relay.py`.
    """
    services, caller = request.services, request.caller
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    attempts = await _checked(request)
    frames = wire.frames(body_of(request))
    document = await _document(frames, services.settings)
    of, name = live_attempt(attempts, batch_id, job_id), format_job_ref(batch_id, job_id)
    action = action_of(request.scope)
    what = f"port {document.port}" if document.port else shlex.join(document.command)
    words = f"{action.path} {what}".replace("\0", "\\0")
    action = replace(action, path=words[:PATH_CHARS_MAX])
    ACTION.set(None)  # what it asks the worker is no entry
    with ExitStack() as undo:
        try:
            channel = await _begin(services, caller, of, document)
            if isinstance(channel, wire.Refused):
                action = replace(action, refused=channel.code)
            else:
                undo.callback(channel.close)
        finally:  # also if this is cancelled meanwhile: it may have begun
            await services.store.record_request(action)
        undo.pop_all()
    if isinstance(channel, wire.Refused):
        raise _refusal(channel, name)
    return _Answer(channel, frames)


async def _ask_again(request: AnyRequest) -> None:
    ACTION.set(None)  # it is no new command
    await _checked(request)


async def _checked(request: AnyRequest) -> Sequence[Row]:
    """Return the attempts of the job. Raise what refuses a command beside it: it would read what
    the job's owner alone may use, and what nobody is shown.
    """
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    services, caller = request.services, request.caller
    attempts = await services.store.list_attempts(caller, batch_id, job_id)
    if await _is_owner(services, caller, batch_id):
        return attempts
    spec = (await services.store.get_job(caller, batch_id, job_id))["spec"]
    if spec is not None and _hides(spec, services.settings):
        await require_owner(
            services,
            caller,
            batch_id,
            "run a command or reach a port beside this job",
            because=", who alone uses the secrets of the job and sees its masked variables.",
            hint="Ask its owner to do it, or to submit a job that needs neither.",
        )
    return attempts


async def _is_owner(services: Services, caller: Caller, batch_id: int) -> bool:
    """Say whether the batch is the caller's; it is not if only a job of it is shared with them."""
    try:
        return await services.owner_of(caller, batch_id) == caller.user_name
    except BatchNotFound:
        return False


def _hides(spec: JobSpec, settings: Settings) -> bool:
    """Say whether a job has secrets or variables that nobody is shown."""
    masks = patterns_of(settings.masked_env)
    given = [spec.env, spec.inherit_env, spec.identity]
    if spec.original is not None:  # a door's document, where the variables may have other places
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            given.append(read_json(spec.original))
    return bool(spec.secrets) or any(hides(one, masks) for one in given)


async def _begin(
    services: Services, caller: Caller, of: RunningAttempt | None, document: wire.ExecDocument
) -> Channel | CarriedCommand | wire.Refused:
    if of is None:
        return wire.Refused(JobNotRunning.code, "no process of it runs")
    logs = await services.store.list_attempt_logs(
        caller, of.key.batch_id, [of.key.job_id], of.key.attempt
    )
    database = logs[0].directory.path.rpartition("/")[2] if logs and logs[0].directory else ""
    settings = services.settings
    asked = wire.Begin(
        of.key,
        database,
        (*_RELAY, str(document.port)) if document.port else document.command,
        settings.exec_job_max,
        caller.tenant_id,
        document.terminal.name if document.terminal else "",
        bool(document.port),
        await _is_owner(services, caller, of.key.batch_id),
    )
    path = Home(settings.home).run / f"spawner-{file_name(of.worker)}.sock{wire.SUFFIX}"
    channel: Channel | CarriedCommand | wire.Refused | None = await begin(
        path, asked, document.terminal
    )
    if channel is None and services.link is not None:
        channel = await services.link.begin_exec(of, asked, document.terminal)
    why = f"worker {of.worker} is not on this host"
    return channel or wire.Refused(ExecElsewhere.code, why)


class _Answer(Stream):
    """What a command writes, while it gets what the client sends."""

    def __init__(self, channel: Channel | CarriedCommand, frames: wire.Frames) -> None:
        unbuffered = {"x-accel-buffering": "no"}
        super().__init__(
            channel.frames(),
            last=_LOST,
            asked_by=_ask_again,
            media_type=wire.MEDIA,
            status_code=200,
            headers=unbuffered,
        )
        self._channel = channel
        self._frames = frames
        self._acts, self._acts_come = Acts(), Pace(ACTS_PER_S)
        self._input_comes = Pace(INPUTS_PER_S)

    async def answer(self, receive: Receive, send: Send, status: int) -> None:
        acting = asyncio.create_task(self._acts.run(self._channel.take))
        try:
            async with tasks_beside((acting,)):
                await super().answer(receive, send, status)
        finally:  # also if no frame was ever asked for
            self._channel.close()

    async def hear(self, receive: Receive) -> None:
        """Give the command what comes for it; return when the client is gone or sends nonsense."""
        with suppress(MalformedBody):
            async for kind, data in self._frames:
                if kind in _ACTS:
                    await self._acts_come.turn()
                    self._acts.note(kind, data)
                else:
                    await self._input_comes.turn()
                    if not await self._channel.take(kind, data):
                        return
            await super().hear(receive)


async def _document(frames: wire.Frames, settings: Settings) -> wire.ExecDocument:
    """Return the first frame. Raise `InvalidDocument` and the like."""
    async with in_time(settings, "Send the document first, and the input after it."):
        found = await anext(frames, None)
    kind, data = found or (-1, b"")
    if kind != wire.BEGIN or len(data) > wire.COMMAND_BYTES_MAX:
        most = wire.COMMAND_BYTES_MAX
        raise wire.malformed(f"The first frame is not a document of at most {most} bytes.")
    return decode(data, JSON, wire.ExecDocument)


def _refusal(refused: wire.Refused, name: str) -> WeftError:
    kind = next((kind for kind in error_classes() if kind.code == refused.code), InvalidValue)
    detail = f"{refused.why[:1].upper()}{refused.why[1:]}."
    return kind(f"no command can run beside {name}", detail=detail)


PART: Final = ApiPart(routes=(exec_job,))
