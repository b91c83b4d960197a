"""The inputs of a submission: files that jobs have left, of the worker's host, of web servers."""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from weft.core.apps.description import AppDescription
from weft.core.apps.values import Parameter
from weft.core.files.file_paths import STORE_SCHEME, UrlFile, WrongPath, parse_source, parts_of
from weft.doors.aloe.archives import own_name, source_of
from weft.doors.aloe.refused import bad_request
from weft.doors.aloe.story import story_of
from weft.doors.aloe.words import STORE
from weft.settings import Settings
from weft.submission.translation.files import wrong_url
from weft.wire.documents.files import FileInput

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_OF_JOB: Final = re.compile(r"(?:.*/)?job-([0-9a-f-]{36}-007)/(.+)", re.DOTALL)
_OF_OUTPUTS: Final = re.compile(r"/+jobs(?:/+v2)?/+([0-9a-f-]{36}-007)/+outputs/+media/+(.+)")
_INPUTS_MAX: Final = 1000

JobOf = Callable[[str], Awaitable[Mapping[str, Any] | None]]


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What addresses may lead to."""

    base: str
    """How the caller reached us."""
    stores: Collection[str]
    """Names of the tenant's stores."""
    job: JobOf
    """Finds a job by its id, if the caller may read it."""
    job_with_archive: JobOf
    """Finds the newest job of the caller whose archive has this path."""


@dataclass(frozen=True, kw_only=True)
class StagedInputs:
    """What a job gets before it starts."""

    asked: Mapping[str, Any] = field(default_factory=dict)
    """Addresses by ids, as they were sent."""
    values: dict[str, str] = field(default_factory=dict)
    """What its wrapper is told of each id: the names of the files in its directory."""
    files: tuple[FileInput, ...] = ()


async def staged_inputs(
    given: Mapping[str, Any], app: AppDescription, sources: Sources, settings: Settings
) -> StagedInputs:
    """Read inputs. Raise a 400 that names the field."""
    known = {one.id: one for one in app.inputs}
    given = {**await _defaults(app, sources), **given}
    asked, values, files = {}, {}, dict[str, FileInput]()
    for name, value in given.items():
        if name not in known:
            raise bad_request(f"inputs.{name[:80]}: not an input of the application")
        addresses = _addresses(name, value, known[name])
        names = []
        for address in addresses:
            try:
                source = await _source(address, sources)
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


async def _defaults(app: AppDescription, sources: Sources) -> dict[str, Any]:
    """Return the usual inputs of an application, as far as this server has them."""
    found = {}
    for one in app.inputs:
        if isinstance(one.default, str) and one.default:
            with suppress(WrongPath):
                await _source(one.default, sources)
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


async def _source(address: str, sources: Sources) -> str:
    """Return the address as weft writes it. Raise `WrongPath`."""
    match = _SCHEME.fullmatch(address)
    scheme = match[1].lower() if match else ""
    if scheme in {"file", "weft"}:
        return address
    path = address.lstrip("/")
    if match and scheme == "agave":
        system, _, path = match[2].partition("/")
        if system in sources.stores and system != STORE:
            return f"{STORE_SCHEME}{system}/{'/'.join(parts_of(unquote(path).lstrip('/')))}"
        if system not in {STORE, ""}:
            raise WrongPath(f"there is no storage system {system[:64]!r}")
    elif match:
        is_ours = address.startswith(f"{sources.base}/")
        found = _OF_OUTPUTS.fullmatch(address[len(sources.base) :]) if is_ours else None
        if found is None and scheme in {"http", "https"}:
            return address
        if found is None:
            raise WrongPath(f"files are not fetched from {scheme}:// here, but from {STORE!r}")
        path = f"job-{found[1]}/{found[2]}"
    path = unquote(path)
    if of_job := _OF_JOB.fullmatch(path):
        facts, name = await sources.job(of_job[1]), of_job[2].strip("/")
    elif facts := await sources.job_with_archive(path):
        name = own_name(facts["document"], path)
    else:
        raise WrongPath(f"{STORE!r} has the outputs of jobs only: …/job-ID/PATH, or an archive")
    if facts is None:
        raise WrongPath("there is no such job")
    own = "/".join(parts_of(name))
    return source_of(facts["batch_id"], facts["document"], story_of(facts).status, own)
