"""A door as somebody might write it: lines of text over HTTP, through the same use cases.

submit NAME PROJECT      then one command a line; a name may stand before it: `a: echo 1`
show b1 | jobs b1 | every b1 N | cancel b1
"""

import hashlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.api.http.doors import ApiDoor, Asked, ForeignTrace, Refusal
from weft.api.http.requests import AnyRequest, foreign_origin, read_text
from weft.api.http.routing import Response, post
from weft.api.use_cases import batches, read
from weft.core.access.rights import Right
from weft.core.errors import Invalid, WeftError
from weft.core.ids import parse_batch_id
from weft.core.query import EVERYTHING, Node
from weft.core.query.tree import DoorTerm
from weft.driver.callback_forms import CallbackForm
from weft.registry.door import ClientFiles, ClientSetup, Door
from weft.submission import submit
from weft.wire.documents.batches import BatchDocument, CancelDocument
from weft.wire.documents.jobs import JobDocument


@post("/lines", opt={"right": Right.WRITE})
async def answer_lines(request: AnyRequest) -> Response[str]:
    """Do what the first line says."""
    text = await read_text(request, 1 << 20)
    try:
        word, *rest = shlex.split(text.partition("\n")[0])
        lines = await _VERBS[word](request, rest, text)
    except WeftError as error:
        lines = [f"refused {error.code}: {error.message}"]
        lines += [f"at {one.pointer}: {one.message}" for one in error.errors]
    except (KeyError, ValueError):
        lines = [f"refused {Invalid.code}: the line is not understood"]
    return Response("\n".join(lines) + "\n", status_code=200, media_type="text/plain")


async def _submit(request: AnyRequest, rest: list[str], text: str) -> list[str]:
    name, project = rest
    document = BatchDocument(
        name=name, billing_project=project, jobs=[_job(line) for line in text.splitlines()[1:]]
    )
    digest = hashlib.sha256(text.encode()).digest()
    origin = foreign_origin(request, digest, request.headers.get("x-once"))
    answer, is_new = await submit.create_batch(request.services, request.caller, document, origin)
    return [f"{'new' if is_new else 'known'} b{answer['id']} jobs {answer['n_jobs']}"]


def _job(line: str) -> JobDocument:
    name, colon, command = line.partition(": ")
    words = tuple(shlex.split(command if colon else line))
    return JobDocument(
        command=words, name=name if colon else None, resources={"cpu": 1, "memory": "64Mi"}
    )


async def _show(request: AnyRequest, rest: list[str], _: str) -> list[str]:
    (batch,) = rest
    row = await read.get_batch(request.services, request.caller, parse_batch_id(batch))
    return [f"{batch} {row['name']} {row['state']} {row['n_completed']}/{row['n_jobs']}"]


async def _jobs(request: AnyRequest, rest: list[str], _: str) -> list[str]:
    (batch,) = rest
    return await _list(request, batch, EVERYTHING)


async def _every(request: AnyRequest, rest: list[str], _: str) -> list[str]:
    batch, step = rest
    return await _list(request, batch, DoorTerm("j.job_id % {0} = 0", (int(step),)))


async def _list(request: AnyRequest, batch: str, query: Node) -> list[str]:
    wanted = read.JobList(limit=100, query=query)
    rows = await read.list_jobs(request.services, request.caller, parse_batch_id(batch), wanted)
    return [f"j{row['job_id']} {row['name'] or '-'} {row['state']}" for row in rows]


async def _cancel(request: AnyRequest, rest: list[str], _: str) -> list[str]:
    (batch,) = rest
    answer = await batches.cancel_batch(
        request.services, request.caller, parse_batch_id(batch), CancelDocument()
    )
    return [f"{batch} was cancelled" if answer["was_cancelled"] else f"{batch} cancelled"]


_VERBS = {"submit": _submit, "show": _show, "jobs": _jobs, "every": _every, "cancel": _cancel}


def _refuse(error: WeftError, asked: Asked) -> Refusal:
    return Refusal(error.status, "text/plain", f"refused {error.code} {asked.method}\n".encode())


SERVED = ApiDoor(
    name="lines",
    routes=[answer_lines],
    paths=("/lines",),
    refuse=_refuse,
    trace=ForeignTrace(header="x-line", new=lambda: "line-new"),
)


def _callback(document: Mapping[str, Any], key: str) -> str:
    return f"{document['name']} {document['state']} {key}"


def _setup(url: str, token: str, folder: Path) -> ClientSetup:
    variables = {"LINES_URL": url, "LINES_KEY": str(folder / "key.txt")}
    return ClientSetup(files={"key.txt": token}, variables=variables)


DOOR = Door(
    name="lines",
    title="the client of lines",
    api=lambda: SERVED,
    callbacks=lambda: CallbackForm(document=_callback),
    client=ClientFiles(sentence="Write a key.", page="Write a key to a file.", setup=_setup),
)
