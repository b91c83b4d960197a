"""Applications: kept, looked at, removed."""

import asyncio
import hashlib
import tempfile
from collections.abc import Sequence
from typing import IO, Final

import msgspec

from weft.api.calls.call import call
from weft.api.calls.path_ids import AppName
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.apps.description import AppDescription
from weft.core.errors import AppIncomplete, FieldError, PayloadTooLarge
from weft.ports.evaluation import TooCostly, evaluate
from weft.ports.store import Caller, Row
from weft.ports.store.submitted import NewApp
from weft.submission.apps import sees_all
from weft.submission.payloads import check_part
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.telemetry.metrics import APPS_SAVED
from weft.wire.app_folder import BadFolder, entries
from weft.wire.documents.apps import App, AppDetail, AppDocument, AppRemoved, AppSaved
from weft.wire.payload import parts_of
from weft_apps.description import BYTES_MAX, FILES, invalid_app
from weft_apps.description import parse_description as parse

_IN_MEMORY: Final = 4 << 20


@call("GET /v1/apps", Right.READ, page=App)
async def list_apps(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the applications that the caller may run, by name; operators see all."""
    return await services.store.list_apps(caller, sees_all=sees_all(caller))


@call("GET /v1/apps/{app}", Right.READ, AppDetail)
async def get_app(services: Services, caller: Caller, name: AppName) -> Row:
    """Return an application with its parameters. Raise `AppNotFound`."""
    return await services.store.get_app(caller, name, sees_all=sees_all(caller))


async def add_part(
    services: Services, caller: Caller, digest: str, part: int, body: bytes, *, n_bytes: int
) -> Answer:
    """Keep a part of a packed folder. Raise `PayloadTooLarge`, `InvalidParameter`."""
    _check_size(services, n_bytes)
    check_part(part, body, n_bytes=n_bytes, what="packed folder")
    await services.store.add_app_part(caller, bytes.fromhex(digest), part, body, n_bytes=n_bytes)
    return {"part": part, "n_parts": parts_of(n_bytes)}


@call("PUT /v1/apps/{app}", Right.OPERATE, AppSaved, client="", marks={"refuses": (409, 413)})
async def save_app(
    services: Services, caller: Caller, name: AppName, document: AppDocument
) -> Answer:
    """Make a packed folder, whose parts were sent, what new jobs of an application get. The same
    content changes nothing; jobs keep theirs. Raise `InvalidApp`, `AppIncomplete`.
    """
    _check_size(services, document.n_bytes)
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        await _read(services, caller, document, file)
        file.seek(0)
        most = services.settings.app_unpacked_bytes_max
        name_, text, names = await asyncio.to_thread(_look_at, file, most)
    described = await evaluate(
        services.evaluation, caller.tenant_id, described_each, None, (name_, text)
    )
    if isinstance(described, TooCostly):
        raise invalid_app("the patterns of the application cannot be used", described.why)
    _check_wrapper(described, names)
    if described.name != name:
        message = f"the folder is that of {described.name}"
        pointer = [FieldError("/name", message)]
        raise invalid_app("the application has another name", message, pointer)
    new = NewApp(
        name=name,
        for_user=document.for_user,
        digest=bytes.fromhex(document.digest),
        n_bytes=document.n_bytes,
        description=msgspec.to_builtins(described),
    )
    found = await services.store.save_app(caller, new, apps_max=services.settings.apps_max)
    if found["changed"]:
        APPS_SAVED.inc()
        log.info("app.saved", app=name, revision=found["revision"], user=caller.user_name)
    return dict(found)


@call("DELETE /v1/apps/{app}", Right.OPERATE, AppRemoved, silent=True)
async def remove_app(
    services: Services, caller: Caller, name: AppName, *, for_user: str | None
) -> Answer:
    """Forget an application: no new job gets it. Jobs that have it run on, also again. Only for
    operators. Raise `AppNotFound`.
    """
    await services.store.remove_app(caller, name, for_user=for_user)
    log.info("app.removed", app=name, user=caller.user_name)
    return {"name": name}


def _check_size(services: Services, n_bytes: int) -> None:
    limit = services.settings.app_bytes_max
    if n_bytes > limit:
        raise PayloadTooLarge(
            f"the packed folder has {n_bytes} bytes",
            detail=f"At most {limit} bytes are kept (`app_bytes_max`).",
            hint="Leave large data out of the folder, or raise the server's setting.",
        )


async def _read(
    services: Services, caller: Caller, document: AppDocument, file: IO[bytes]
) -> None:
    digest, found = bytes.fromhex(document.digest), hashlib.sha256()
    for part in range(1, parts_of(document.n_bytes) + 1):
        row = await services.store.read_app_part(caller, digest, part)
        if row is None or row[0] != document.n_bytes:
            raise AppIncomplete(
                "parts of the folder are missing", detail=f"Part {part} is not there."
            )
        await asyncio.to_thread(file.write, row[1])
        found.update(row[1])
    if found.digest() != digest:
        why = f"theirs is {found.hexdigest()}"
        raise invalid_app("the parts are not those of this digest", why)


def described_each(_: None, file: tuple[str, bytes]) -> AppDescription:
    """Read a description, and try its patterns (`Evaluates.each`). Raise `InvalidApp`."""
    return parse(*file)


def _look_at(file: IO[bytes], bytes_max: int) -> tuple[str, bytes, set[str]]:
    """Return the file in which a packed folder says what it is, by name and text, and the names
    of all. Raise `InvalidApp`.
    """
    texts: dict[str, bytes] = {}
    names = set()
    try:
        for entry in entries(file, bytes_max):
            if entry.file is not None:
                names.add(entry.name)
            if entry.file is not None and entry.name in FILES:
                texts[entry.name] = entry.file.read(BYTES_MAX + 1)
    except BadFolder as error:
        raise invalid_app("the folder cannot be used", str(error)) from error
    for name in FILES:
        if len(texts.get(name, b"")) > BYTES_MAX:
            raise invalid_app("the folder cannot be used", f"{name} is too large")
        if name in texts:
            return name, texts[name], names
    raise invalid_app("the folder is no application", f"it has neither {' nor '.join(FILES)}")


def _check_wrapper(described: AppDescription, names: set[str]) -> None:
    if described.wrapper not in names:
        message = f"the folder has no file {described.wrapper}"
        raise invalid_app(
            "the application cannot be used", message, [FieldError("/templatePath", message)]
        )
