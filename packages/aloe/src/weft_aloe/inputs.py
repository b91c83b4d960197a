"""The inputs of a submission: files that jobs have left, of the worker's host, of web servers."""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from weft.api.services import Services
from weft.core.apps.description import AppDescription
from weft.core.apps.values import Parameter, joined, wrong_text
from weft.core.files.file_paths import STORE_SCHEME, UrlFile, WrongPath, parse_source, parts_of
from weft.ports.evaluation import TooCostly, evaluate
from weft.ports.store import Caller
from weft.settings import Settings
from weft.submission.translation.files import wrong_url
from weft.wire.documents.files import FileInput
from weft_aloe.archives import own_name, source_of
from weft_aloe.replies import bad_request
from weft_aloe.story import story_of
from weft_aloe.words import STORE

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
    given: Mapping[str, Any],
    app: AppDescription,
    sources: Sources,
    services: Services,
    caller: Caller,
) -> StagedInputs:
    """Read inputs. Raise a 400 that names the field."""
    known = {one.id: one for one in app.inputs}
    said = {name: value for name, value in given.items() if value not in (None, [])}
    wanted: dict[str, list[str]] = {}
    for name, value in said.items():
        if name not in known:
            raise bad_request(f"inputs.{name[:80]}: not an input of the application")
        if not known[name].visible:
            raise bad_request(f"inputs.{name}: the application does not let it be set")
        wanted[name] = _addresses(name, value, known[name])
    # Elsewhere: a pattern takes milliseconds.
    evaluation = services.evaluation
    if why := await evaluate(evaluation, caller.tenant_id, wrong_pattern, known, wanted):
        raise bad_request(f"inputs: {why.why}" if isinstance(why, TooCostly) else why)
    usual = await _defaults([one for one in app.inputs if one.id not in said], sources)
    wanted |= {name: _addresses(name, value, known[name]) for name, value in usual.items()}
    asked, values, files = {}, {}, dict[str, FileInput]()
    for name, addresses in wanted.items():
        names = []
        for address in addresses:
            try:
                source = await _source(address, sources)
                own = _own_name(source, services.settings)
            except WrongPath as error:
                raise bad_request(f"inputs.{name}: {address[:200]!r}: {error}") from error
            if own in files and files[own].from_ != source:
                raise bad_request(f"inputs.{name}: another input is called {own!r}, too")
            files[own] = FileInput(from_=source, to=own)
            names.append(own)
        if names:
            asked[name] = said.get(name, usual.get(name))
            values[name] = joined(known[name], names)
    if len(files) > _INPUTS_MAX:
        raise bad_request(f"inputs: {len(files)} files, at most {_INPUTS_MAX}")
    if missing := [one.id for one in app.inputs if one.required and one.id not in values]:
        raise bad_request(f"inputs.{missing[0]}: it is required")
    return StagedInputs(asked=asked, values=values, files=tuple(files.values()))


def wrong_pattern(known: Mapping[str, Parameter], wanted: Mapping[str, list[str]]) -> str:
    """Return which address does not match its pattern; empty: all do (`Evaluates.each`)."""
    for name, addresses in wanted.items():
        for address in addresses:
            if why := wrong_text(known[name], address):
                return f"inputs.{name}: {address[:200]!r}: {why}"
    return ""


async def _defaults(inputs: Iterable[Parameter], sources: Sources) -> dict[str, Any]:
    """Return what these inputs usually are, as far as this server has it."""
    found = {}
    for parameter in inputs:
        usual = parameter.default if isinstance(parameter.default, list) else [parameter.default]
        if all(isinstance(each, str) and each for each in usual):
            with suppress(WrongPath):
                for each in usual:
                    await _source(each, sources)
                found[parameter.id] = parameter.default
    return found


def _addresses(name: str, value: object, known: Parameter) -> list[str]:
    several = value if isinstance(value, list) else [value]
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
