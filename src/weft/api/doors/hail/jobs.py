"""From Hail's job specs to jobs of weft."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from weft.api.doors.hail.plain_jobs import is_plain
from weft.api.doors.hail.refused import bad_request
from weft.api.doors.hail.requests import Document, decode_value
from weft.api.doors.hail.resources import REGION, asked_of
from weft.api.doors.hail.shapes import JOB
from weft.api.http.path_ids import ATTEMPTS_MAX
from weft.api.translation.request_size import refuse_too_many
from weft.core.texts import wrong_name
from weft.settings import Settings
from weft.wire.foreign_jobs import ForeignJob

ATTEMPT: Final = "b{batch}j{job}a{attempt}"
"""The id of an attempt, derived from its numbers."""
_FIRST: Final = {
    "HAIL_BATCH_ID": "{batch}",
    "HAIL_JOB_ID": "{job}",
    "HAIL_ATTEMPT_ID": ATTEMPT,
    "HAIL_REGION": REGION,
}
N_MAX_ATTEMPTS: Final = 20
_COUNTED: Final = ("lost",)
"""Of the attempts of Hail's jobs only the lost ones are repeated, and they count."""
IO: Final = "/io"
_IO: Final = (IO,)
_NAMES_IO: Final = re.compile(rf"(?<![\w.~/-]){IO}(?![\w.-])")
_NEEDS_CLOUD: Final = ("input_files", "output_files", "cloudfuse")
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


def jobs_of(specs: Sequence[bytes], bunch: Bunch) -> tuple[int, list[ForeignJob]]:
    """Return the position in the update of the first of these jobs, and all of them. Raise
    `Refused` for the first that is wrong.
    """
    refuse_too_many("jobs", len(specs), bunch.settings)
    jobs: list[ForeignJob] = []
    first = last = 0
    for index, raw in enumerate(specs):
        spec: Document = decode_value(raw)
        if not is_plain(raw):
            spec = present_form(spec, f"jobs[{index}]")
            JOB(f"jobs[{index}]", spec)
            _refuse_foreign(spec, bunch)
        number = spec["job_id"]
        if not jobs:
            first = number
        elif number != last + 1:
            raise bad_request(f"noncontiguous job ids found in the spec: {last} -> {number}")
        last = number
        jobs.append(_job(spec, raw, bunch))
    return first, jobs


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


def _job(spec: Document, raw: bytes, bunch: Bunch) -> ForeignJob:
    number = bunch.first_job + spec["job_id"] - 1
    asked = asked_of(spec, f"({bunch.batch_id or 'new'}, {number})")
    group = _group_of(spec, bunch)
    attributes = spec.get("attributes") or {}
    name = attributes.get("name")
    if name is not None and wrong_name(name, chars_max=bunch.settings.name_chars_max):
        name = None  # it stays an attribute, which may be any text
    identity = {**_FIRST, "HAIL_JOB_GROUP_ID": str(group)}
    if "port" in spec:
        identity["HAIL_BATCH_WORKER_PORT"] = str(spec["port"])
        identity["HAIL_BATCH_WORKER_IP"] = "127.0.0.1"
    return ForeignJob(
        command=tuple(spec["process"]["command"]),
        name=name,
        env={one["name"]: one["value"] for one in spec.get("env", ())} or None,
        resources=asked.document,
        timeout_s=spec.get("timeout"),
        always_run=spec.get("always_run", False),
        parents=_parents_of(spec, bunch),
        group=_named_group(group, bunch),
        attributes=attributes or None,
        max_attempts=min(spec.get("n_max_attempts", N_MAX_ATTEMPTS), ATTEMPTS_MAX),
        retry_on=_COUNTED,
        preemptible=(spec.get("resources") or {}).get("preemptible"),
        original=raw,
        identity=identity,
        own_paths=_own_paths_of(spec),
    )


def _own_paths_of(spec: Document) -> tuple[str, ...] | None:
    """Return the paths that Hail's containers have and that a job's words name."""
    words = [*spec["process"]["command"], *(one["value"] for one in spec.get("env", ()))]
    return _IO if any(IO in word and _NAMES_IO.search(word) for word in words) else None


def _parents_of(spec: Document, bunch: Bunch) -> tuple[int | str, ...]:
    absolute: list[int] = spec.get("absolute_parent_ids", [])
    numbers = [
        *absolute,
        *(bunch.first_job + one - 1 for one in spec.get("in_update_parent_ids", ())),
    ]
    if len(set(numbers)) < len(numbers):
        raise bad_request(
            f"bunch contains job with duplicated parents (job {spec['job_id']}: {numbers})"
        )
    own = bunch.first_job + spec["job_id"] - 1
    for one in numbers:
        if not 0 < one < own:
            raise bad_request(f"job {own} cannot have the parent {one}: it is no earlier job")
    first = bunch.first_job
    return tuple(one - first + 1 if one >= first else f"j{one}" for one in numbers)


def _group_of(spec: Document, bunch: Bunch) -> int:
    """Return the number of a job's group in its batch."""
    number: int = spec.get("absolute_job_group_id", 0)
    if "absolute_job_group_id" not in spec and "in_update_job_group_id" in spec:
        number = bunch.first_group + spec["in_update_job_group_id"] - 1
    if number < 0:
        raise bad_request(f"job {spec['job_id']} is in an unknown job group {number}")
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
    for key in _NEEDS_CLOUD:
        if spec.get(key):
            raise bad_request(f"{key} needs a cloud and is not supported here: use shared paths")
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
