"""The inputs of a submission: files that jobs have left, of the worker's host, of web servers."""

import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from weft.core.apps.description import AppDescription
from weft.core.apps.values import Parameter
from weft.core.file_paths import UrlFile, WrongPath, parse_source, parts_of
from weft.doors.aloe.refused import bad_request
from weft.doors.aloe.words import STORE
from weft.settings import Settings
from weft.submission.translation.files import wrong_url
from weft.wire.file_documents import FileInput

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_OF_JOB: Final = re.compile(r"(?:.*/)?job-([0-9a-f-]{36}-007)/(.+)", re.DOTALL)
_OF_OUTPUTS: Final = re.compile(r"/+jobs(?:/+v2)?/+([0-9a-f-]{36}-007)/+outputs/+media/+(.+)")
_INPUTS_MAX: Final = 1000

BatchOf = Callable[[str], Awaitable[int | None]]
"""Finds the batch of a job by its id, if the caller may read it."""


@dataclass(frozen=True, kw_only=True)
class StagedInputs:
    """What a job gets before it starts."""

    asked: Mapping[str, Any] = field(default_factory=dict)
    """Addresses by ids, as they were sent."""
    values: dict[str, str] = field(default_factory=dict)
    """What its wrapper is told of each id: the names of the files in its directory."""
    files: tuple[FileInput, ...] = ()


async def staged_inputs(
    given: Mapping[str, Any], app: AppDescription, base: str, batch_of: BatchOf, settings: Settings
) -> StagedInputs:
    """Read inputs. Raise a 400 that names the field. `base`: how the caller reached us."""
    known = {one.id: one for one in app.inputs}
    given = {**await _defaults(app, base, batch_of), **given}
    asked, values, files = {}, {}, dict[str, FileInput]()
    for name, value in given.items():
        if name not in known:
            raise bad_request(f"inputs.{name[:80]}: not an input of the application")
        addresses = _addresses(name, value, known[name])
        names = []
        for address in addresses:
            try:
                source = await _source(address, base, batch_of)
                own = _own_name(source, settings)
            except WrongPath as error:
                raise bad_request(f"inputs.{name}: {address[:200]!r}: {error}") from error
            if own in files and files[own].from_ != source:
                raise bad_request(f"inputs.{name}: another input is called {own!r}, too")
            files[own] = FileInput(from_=source, to=own)
            names.append(own)
        if names:
            asked[name], values[name] = value, " ".join(names)
    if len(files) > _INPUTS_MAX:
        raise bad_request(f"inputs: {len(files)} files, at most {_INPUTS_MAX}")
    if missing := [one.id for one in app.inputs if one.required and one.id not in values]:
        raise bad_request(f"inputs.{missing[0]}: it is required")
    return StagedInputs(asked=asked, values=values, files=tuple(files.values()))


async def _defaults(app: AppDescription, base: str, batch_of: BatchOf) -> dict[str, Any]:
    """Return the usual inputs of an application, as far as this server has them."""
    found = {}
    for one in app.inputs:
        if isinstance(one.default, str) and one.default:
            with suppress(WrongPath):
                await _source(one.default, base, batch_of)
                found[one.id] = one.default
    return found


def _addresses(name: str, value: object, known: Parameter) -> list[str]:
    several = value if isinstance(value, list) else [value] if value is not None else []
    given = [one for one in several if isinstance(one, str) and one]
    if len(given) != len(several):
        raise bad_request(f"inputs.{name}: expected an address, or a list of addresses")
    if known.most >= 0 and len(given) > known.most:
        raise bad_request(f"inputs.{name}: {len(given)} addresses, at most {known.most}")
    if given and len(given) < known.least:
        raise bad_request(f"inputs.{name}: {len(given)} addresses, at least {known.least}")
    return given


def _own_name(source: str, settings: Settings) -> str:
    """Return how a file is called in the job's directory. Raise `WrongPath`."""
    file = parse_source(source)
    if isinstance(file, UrlFile) and (why := wrong_url(file, settings)):
        raise WrongPath(why)
    return "/".join(parts_of(file.path.rpartition("/")[2]))


async def _source(address: str, base: str, batch_of: BatchOf) -> str:
    """Return the address as weft writes it. Raise `WrongPath`."""
    match = _SCHEME.fullmatch(address)
    scheme = match[1].lower() if match else ""
    if scheme in {"file", "weft"}:
        return address
    path = address.lstrip("/")
    if match and scheme == "agave":
        system, _, path = match[2].partition("/")
        if system not in {STORE, ""}:
            raise WrongPath(f"there is no storage system {system[:64]!r}, only {STORE!r}")
    elif match:
        is_ours = address.startswith(f"{base}/")
        found = _OF_OUTPUTS.fullmatch(address[len(base) :]) if is_ours else None
        if found is None and scheme in {"http", "https"}:
            return address
        if found is None:
            raise WrongPath(f"files are not fetched from {scheme}:// here, but from {STORE!r}")
        path = f"job-{found[1]}/{found[2]}"
    of_job = _OF_JOB.fullmatch(unquote(path))
    if of_job is None:
        raise WrongPath("the store has the outputs of jobs only: …/job-ID/PATH")
    batch_id = await batch_of(of_job[1])
    if batch_id is None:
        raise WrongPath("there is no such job")
    return f"weft://b{batch_id}.j1/{_quoted('/'.join(parts_of(of_job[2].strip('/'))))}"


def _quoted(path: str) -> str:
    return path.replace("%", "%25")
