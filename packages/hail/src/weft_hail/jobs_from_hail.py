"""From Hail's job specs to jobs of weft.

Jobs that differ from one before by their number and command only, as those of most large
bunches do: nothing else of them is read.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from weft.api.calls.path_ids import ATTEMPTS_MAX
from weft.core.bounded import read_json
from weft.core.text.texts import wrong_name
from weft.ports.store import Row
from weft.settings import Settings
from weft.submission.translation.context import refuse_too_many
from weft.wire.documents.containers import ContainerDocument
from weft.wire.documents.foreign_jobs import ForeignJob
from weft_hail.files import IO, Work, inputs_of, outputs_of, without_tools
from weft_hail.plain_jobs import PlainJob, checked_job, plain_job
from weft_hail.requests import Document, bad_request, decode_value
from weft_hail.resources import REGION, asked_of
from weft_hail.settings import HailSettings
from weft_hail.shapes import JOB

_NUMBER: Final = re.compile(rb'"job_id":\s*([1-9][0-9]*)(?=[,}\s])')
_COMMAND: Final = re.compile(rb'"command":\s*(?=\[)')
_MARKS: Final = (-1, ["a mark"])
_WRONG: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class _Process(Struct, gc=False):
    command: Raw


class _Spec(Struct, gc=False):
    process: _Process


_DECODER: Final = msgspec.json.Decoder(_Spec)
_WORDS: Final = msgspec.json.Decoder(tuple[str, ...])
_COMMANDS: Final = msgspec.json.Decoder(list[tuple[str, ...]])


class Alike(NamedTuple):
    """What the specs of such jobs share."""

    before: bytes
    """What stands before the number."""
    between: bytes
    """What stands between the number and the command."""
    after: bytes
    job: ForeignJob
    """The job of one of them."""

    def read(self, specs: Sequence[bytes], first: int) -> list[ForeignJob]:
        """Return the jobs of the specs, which have the numbers from `first` on, up to one that is
        not like these or has another number.
        """
        words: list[bytes] = []
        for number, raw in enumerate(specs, start=first):
            begin = b"%b%d%b" % (self.before, number, self.between)
            if not raw.startswith(begin) or not raw.endswith(self.after):
                break
            words.append(raw[len(begin) : len(raw) - len(self.after)])
        jobs: list[ForeignJob] = []
        for command in _commands_of(words):
            # `copy` calls this, and takes three times as long.
            job: ForeignJob = self.job.__copy__()  # type: ignore[attr-defined]  # of every Struct
            job.command = command
            jobs.append(job)
        return jobs


def _commands_of(words: Sequence[bytes]) -> list[tuple[str, ...]]:
    """Return the commands up to one that is none. What is no value of JSON by itself, but stood in
    the place of one, is none within a list either.
    """
    try:
        return _COMMANDS.decode(b"[%b]" % b",".join(words))
    except _WRONG:
        pass
    found: list[tuple[str, ...]] = []
    with suppress(*_WRONG):
        for word in words:
            found.append(_WORDS.decode(word))  # noqa: PERF401 (those before a wrong one stay)
    return found


def alike_to(raw: bytes, job: ForeignJob) -> Alike | None:
    """Return what specs like this one share; None: they cannot be told apart.

    Number and command are looked for as text. So that they are taken for nothing else, a spec with
    other ones in their places must differ in these values alone.
    """
    number, command = _NUMBER.search(raw), _COMMAND.search(raw)
    if number is None or command is None or number.end() > command.start():
        return None
    if list(job.command or ()) == _MARKS[1]:
        return None  # it would be taken for the mark
    words = bytes(_DECODER.decode(raw).process.command)
    end = command.end() + len(words)
    found = Alike(raw[: number.start(1)], raw[number.end(1) : command.end()], raw[end:], job)
    marked = found.before + b"%d" % _MARKS[0] + found.between
    try:
        other = msgspec.json.decode(marked + msgspec.json.encode(_MARKS[1]) + found.after)
    except _WRONG:
        return None
    return found if other == _marked(msgspec.json.decode(raw)) else None


def _marked(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    number, command = _MARKS
    return {**spec, "job_id": number, "process": {**spec["process"], "command": command}}


ATTEMPT: Final = "b{batch}j{job}a{attempt}"
"""The id of an attempt, derived from its numbers."""
_FIRST: Final = {
    "HAIL_BATCH_ID": "{batch}",
    "HAIL_JOB_ID": "{job}",
    "HAIL_ATTEMPT_ID": ATTEMPT,
    "HAIL_REGION": REGION,
}
N_MAX_ATTEMPTS: Final = 20
_IMAGE_CHARS: Final = 200
_COUNTED: Final = ("lost",)
"""Of the attempts of Hail's jobs only the lost ones are repeated, and they count."""
_IO: Final = (IO,)
KINDS_MAX: Final = 8
"""How many jobs of a bunch are compared with those that follow."""
RUN_MAX: Final = 32
"""How many jobs are compared with one before them at once. Few, because those that follow one that
differs are compared again.
"""
_NAMES_IO: Final = re.compile(rf"(?<![\w.~/-]){IO}(?![\w.-])")
_OLD_PROCESS: Final = ("command", "image", "mount_docker_socket")


@dataclass(frozen=True, kw_only=True)
class Bunch:
    """Where the jobs of a request go."""

    settings: Settings
    batch_id: int | None
    """None: the batch is being created."""
    first_job: int = 1
    """Number of the update's first job in its batch."""
    first_group: int = 1
    path_by_group: Mapping[int, str] | None = None
    """If the groups are in the same request: their paths. None: jobs name groups by numbers."""
    supported_regions: Sequence[str] = field(default=(REGION,))
    stores: Sequence[Row] = ()
    """Of the tenant, if any job has files."""


def jobs_of(specs: Sequence[bytes], bunch: Bunch) -> tuple[int, list[ForeignJob]]:
    """Return the position in the update of the first of these jobs, and all of them. Raise
    `Refused` for the first that is wrong.
    """
    refuse_too_many("jobs", len(specs), bunch.settings)
    jobs: list[ForeignJob] = []
    asked_by_text: dict[bytes, _Asked] = {}
    in_images = bunch.settings.section(HailSettings).hail_images
    alike: Alike | None = None
    paths: tuple[str, ...] | None = None  # those that the variables of `alike` name
    n_kinds = first = last = 0
    while len(jobs) < len(specs):
        index = len(jobs)
        if alike is not None and (run := alike.read(specs[index : index + RUN_MAX], last + 1)):
            _name_paths(run, paths)
            last += len(run)
            jobs += run
            continue
        raw = specs[index]
        spec = plain_job(raw)
        is_plain = spec is not None
        if spec is None:
            spec = _checked(raw, f"jobs[{index}]", bunch)
        number = spec.job_id
        if not jobs:
            first = number
        elif number != last + 1:
            raise bad_request(f"noncontiguous job ids found in the spec: {last} -> {number}")
        last = number
        text = bytes(spec.resources)
        asked = asked_by_text.get(text)
        if asked is None:
            asked = asked_by_text[text] = _asked_of(text, spec, bunch)
        job = _job(spec, raw, asked, bunch)
        is_plain &= job.command == spec.process.command
        if in_images:
            job.container, job.network = _container(spec.process.image), True
        jobs.append(job)
        if is_plain and n_kinds < KINDS_MAX:
            n_kinds += 1
            alike = alike_to(raw, jobs[-1])
            named = _paths_in([one.value for one in spec.env])
            paths = _IO if job.inputs or job.outputs else named
    return first, jobs


class _Asked(NamedTuple):
    """What jobs ask for, shared by all that ask for it in the same words."""

    document: dict[str, Any]
    preemptible: bool | None


def _asked_of(text: bytes, spec: PlainJob, bunch: Bunch) -> _Asked:
    resources = read_json(text)
    number = bunch.first_job + spec.job_id - 1
    asked = asked_of({"resources": resources}, f"({bunch.batch_id or 'new'}, {number})")
    return _Asked(asked.document, resources.get("preemptible"))


def _checked(raw: bytes, name: str, bunch: Bunch) -> PlainJob:
    """Check a spec that is not plain, key by key."""
    spec = present_form(decode_value(raw), name)
    JOB(name, spec)
    _refuse_foreign(spec, bunch)
    return checked_job(spec)


def present_form(value: Any, name: str) -> Document:  # noqa: ANN401 (any value of JSON)
    """Return a spec, still unchecked, with the present keys instead of those of old clients."""
    if not isinstance(value, dict):
        raise bad_request(f"{name} is not {dict}")
    spec: Document = dict(value)
    if "gcsfuse" in spec:
        spec["cloudfuse"] = spec.pop("gcsfuse")
    if "parent_ids" in spec:
        spec["absolute_parent_ids"] = spec.pop("parent_ids")
    if "pvc_size" in spec:
        size, resources = spec.pop("pvc_size"), spec.get("resources") or {}
        if not isinstance(resources, dict) or "storage" in resources:
            raise bad_request(
                f"{name}.resources.storage is already defined, but deprecated key 'pvc_size' is "
                "also present."
            )
        spec["resources"] = {**resources, "storage": size}
    old = [key for key in _OLD_PROCESS if key in spec]
    if old and "process" in spec:
        raise bad_request(
            f"{name}.process is already defined, but deprecated keys 'command', 'image', "
            "'mount_docker_socket' are also present. Please remove deprecated keys."
        )
    if old:
        spec["process"] = {"type": "docker", **{key: spec.pop(key) for key in old}}
    return spec


def _job(spec: PlainJob, raw: bytes, asked: _Asked, bunch: Bunch) -> ForeignJob:
    group = _group_of(spec, bunch)
    attributes = spec.attributes or None
    name = attributes.get("name") if attributes else None
    if name is not None and wrong_name(name, chars_max=bunch.settings.name_chars_max):
        name = None  # it stays an attribute, which may be any text
    attempts = spec.n_max_attempts or N_MAX_ATTEMPTS
    work = without_tools(Work(spec.process.command, spec.input_files, spec.output_files))
    words = [*work.command, *(one.value for one in spec.env)]
    return ForeignJob(
        command=work.command,
        inputs=inputs_of(work.inputs, bunch.stores),
        outputs=outputs_of(work.outputs, bunch.stores, is_always=spec.always_copy_output),
        name=name,
        env={one.name: one.value for one in spec.env} if spec.env else None,
        resources=asked.document,
        timeout_s=spec.timeout or None,
        always_run=spec.always_run,
        parents=_parents_of(spec, bunch),
        group=_named_group(group, bunch),
        attributes=attributes,
        max_attempts=min(attempts, ATTEMPTS_MAX),
        retry_on=_COUNTED,
        preemptible=asked.preemptible,
        original=raw,
        identity=_identity(group, spec.port),
        own_paths=_IO if work.inputs or work.outputs else _paths_in(words),
    )


@lru_cache(maxsize=1024)
def _container(image: str) -> ContainerDocument:
    """Return what runs a job in an image, which Hail's clients name as Docker does."""
    try:
        return msgspec.convert({"image": f"docker://{image}"}, ContainerDocument)
    except msgspec.ValidationError:
        raise bad_request(f"invalid image {image[:_IMAGE_CHARS]!a}") from None


@lru_cache(maxsize=1024)
def _identity(group: int, port: int | UnsetType) -> dict[str, str]:
    """Return the variables that say who a job is."""
    found = {**_FIRST, "HAIL_JOB_GROUP_ID": str(group)}
    if port is not UNSET:
        found["HAIL_BATCH_WORKER_PORT"] = str(port)
        found["HAIL_BATCH_WORKER_IP"] = "127.0.0.1"
    return found


def _paths_in(words: Sequence[str]) -> tuple[str, ...] | None:
    """Return the paths that Hail's containers have and that these words name."""
    text = "\0".join(words)
    return _IO if IO in text and _NAMES_IO.search(text) else None


def _name_paths(jobs: Sequence[ForeignJob], shared: tuple[str, ...] | None) -> None:
    """Note the paths that the commands of jobs name, or those that they all name besides."""
    some = shared or _paths_in([word for job in jobs for word in job.command or ()])
    if some or jobs[0].own_paths:  # all have those of the job that they are like
        for job in jobs:
            job.own_paths = some and (shared or _paths_in(job.command or ()))


def _parents_of(spec: PlainJob, bunch: Bunch) -> tuple[int | str, ...]:
    if not spec.absolute_parent_ids and not spec.in_update_parent_ids:
        return ()
    first = bunch.first_job
    numbers = [*spec.absolute_parent_ids, *(first + one - 1 for one in spec.in_update_parent_ids)]
    if len(set(numbers)) < len(numbers):
        raise bad_request(
            f"bunch contains job with duplicated parents (job {spec.job_id}: {numbers})"
        )
    own = first + spec.job_id - 1
    for number in numbers:
        if not 0 < number < own:
            raise bad_request(f"job {own} cannot have the parent {number}: it is no earlier job")
    return tuple(number - first + 1 if number >= first else f"j{number}" for number in numbers)


def _group_of(spec: PlainJob, bunch: Bunch) -> int:
    """Return the number of a job's group in its batch."""
    number = 0
    if spec.absolute_job_group_id is not UNSET:
        number = spec.absolute_job_group_id
    elif spec.in_update_job_group_id is not UNSET:
        number = bunch.first_group + spec.in_update_job_group_id - 1
    if number < 0:
        raise bad_request(f"job {spec.job_id} is in an unknown job group {number}")
    return number


def _named_group(number: int, bunch: Bunch) -> int | str | None:
    if number == 0:
        return None
    if bunch.path_by_group is None:
        return number - bunch.first_group + 1 if number >= bunch.first_group else -number
    if number not in bunch.path_by_group:
        raise bad_request(f"the request has no job group {number}")
    return bunch.path_by_group[number]


def _refuse_foreign(spec: Document, bunch: Bunch) -> None:
    """Raise `Refused` for what needs a cloud, or rights that nobody has here."""
    process = spec["process"]
    if process["type"] != "docker":
        raise bad_request("jobs with process.type 'jvm' are not supported here; use 'docker'")
    if process.get("mount_docker_socket"):
        raise bad_request(
            "mount_docker_socket is no longer supported but was set to True in request. "
            "Please upgrade."
        )
    for one in spec.get("cloudfuse", ()):
        if not one["read_only"]:
            raise bad_request(f"Only read-only cloudfuse requests are supported. Found {one}")
        if one["mount_path"] == IO:
            raise bad_request(
                f"Cloudfuse requests with mount_path={IO} are not supported. Found {one}"
            )
    if spec.get("cloudfuse"):
        raise bad_request("cloudfuse needs a cloud and is not supported here: use shared paths")
    if spec.get("mount_tokens"):
        raise bad_request("mount_tokens is not supported here: a job has no token of its user")
    if spec.get("network", "public") != "public":
        raise bad_request("unauthorized network private")
    for secret in spec.get("secrets", ()):
        raise bad_request(f"unauthorized secret {(secret['namespace'], secret['name'])}")
    if account := spec.get("service_account"):
        raise bad_request(
            f"unauthorized service account {(account['namespace'], account['name'])}"
        )
    if spec.get("unconfined"):
        raise bad_request("unauthorized use of unconfined=True")
    if invalid := set(spec.get("regions", ())) - set(bunch.supported_regions):
        raise bad_request(f"invalid regions specified: {invalid}")
