"""Read submissions: what a client of Agave asks for becomes a job of weft."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from weft.core.apps.description import AppDescription, bytes_of
from weft.core.files.file_paths import WrongPath, parts_of
from weft.ports.store import Row
from weft.submission.services import Answer
from weft.wire.documents.foreign_jobs import ForeignJob
from weft_aloe.archives import outputs_of
from weft_aloe.inputs import StagedInputs
from weft_aloe.replies import bad_request
from weft_aloe.words import (
    GB,
    LOCAL,
    QUEUE,
    STORE,
    duration,
    instant,
    seconds_of,
    slug,
)

DOCUMENT_BYTES_MAX: Final = 128 << 10
_LONGEST: Final = "999:59:59"
"""For an application that names no limit."""
_MEMORY: Final = 512 << 20
_MACRO: Final = re.compile(r"\$\{([^}]*)\}")
_INT_MAX: Final = 1_000_000
_DEPTH_MAX: Final = 32
_TEXTS: Final = {
    "name": 64,
    "appId": 80,
    "batchQueue": 255,
    "memoryPerNode": 32,
    "maxRunTime": 20,
    "archiveSystem": 64,
    "archivePath": 255,
}
_NUMBERS: Final = ("nodeCount", "processorsOnEachNode", "processorsPerNode")
_SWITCHES: Final = ("archive", "archiveOnAppError")
_OBJECTS: Final = ("inputs", "parameters")
_KNOWN: Final = frozenset({*_TEXTS, *_NUMBERS, *_SWITCHES, *_OBJECTS, "notifications"})
_OLD: Final = {
    "executionSystem": "the application says where it runs",
    "jobName": "it is called `name`",
    "parameter": "it is called `parameters`",
    "dependencies": "jobs do not wait for each other here",
}


@dataclass(frozen=True)
class Asked:
    """A submission as it was sent, checked as far as that needs no application."""

    body: Mapping[str, Any]

    @property
    def app(self) -> str:
        """The name of its application, with the version."""
        return str(self.body["appId"])

    def get(self, name: str) -> Any:  # noqa: ANN401 (JSON)
        """Return what it says; None: nothing."""
        return self.body.get(name)


def read_asked(body: object) -> Asked:
    """Check a submission. Raise a 400 that names each field that is wrong."""
    if not isinstance(body, dict):
        raise bad_request("the body is not a JSON object")
    given = {name: value for name, value in body.items() if value is not None}
    problems: list[str] = []
    for name in given:
        if name in _OLD:
            problems.append(f"{name}: not a field of a job, {_OLD[name]}")
        elif name not in _KNOWN:
            problems.append(f"{name[:80]!r}: not a field of a job")
    for names, check in _CHECKS:
        problems += [f"{name}: {wrong}" for name in names if (wrong := check(name, given))]
    if not problems:
        why = "a text in it has NUL, or it is nested too deeply"
        problems += [f"{name}: {why}" for name, value in given.items() if not _is_plain(value)]
    if not problems and len(msgspec.json.encode(given)) > DOCUMENT_BYTES_MAX:
        problems.append(f"the job has more than {DOCUMENT_BYTES_MAX} bytes")
    if problems:
        raise bad_request("; ".join(problems))
    return Asked(given)


@dataclass(frozen=True, kw_only=True)
class Whose:
    """The owner of a job, and its id."""

    job_id: str
    owner: str
    tenant: str
    base: str
    """How the owner reached this server."""

    @property
    def url(self) -> str:
        """The address of the job."""
        return f"{self.base}/jobs/v2/{self.job_id}"


def foreign_document(
    asked: Asked, app: AppDescription, whose: Whose, queue: str | None, inputs: StagedInputs
) -> dict[str, Any]:
    """Return what is kept of a job: what it was asked to be, and what it is."""
    processors = asked.get("processorsOnEachNode") or asked.get("processorsPerNode")
    if (nodes := asked.get("nodeCount") or app.nodes) > 1:
        raise bad_request(f"nodeCount: {nodes} nodes, and jobs run on one")
    memory = asked.get("memoryPerNode")
    n_bytes = (app.memory or _MEMORY) if memory is None else bytes_of(str(memory)) or _MEMORY
    limit = asked.get("maxRunTime") or (duration(app.timeout_s) if app.timeout_s else _LONGEST)
    kept = {
        "asked": dict(asked.body),
        "base": whose.base,
        "name": asked.get("name"),
        "appId": app.name,
        "systemId": app.system or LOCAL,
        "batchQueue": queue or QUEUE,
        "nodeCount": nodes,
        "processorsPerNode": processors or app.processors,
        "memoryPerNode": round(n_bytes / GB, 6),
        "memoryBytes": n_bytes,
        "maxRunTime": limit,
        "inputs": inputs.asked,
        "parameters": _parameters(asked),
        "archive": asked.get("archive") is not False,
        "archiveOnAppError": asked.get("archiveOnAppError") is True,
        "archiveSystem": asked.get("archiveSystem"),
    }
    return {**kept, "archivePath": _archive_path(asked, kept, whose)}


def job_of(
    asked: Asked, kept: Mapping[str, Any], whose: Whose, inputs: StagedInputs
) -> ForeignJob:
    """Return the job of weft. Values reach its wrapper as variables."""
    resources = {"cpu": kept["processorsPerNode"], "memory": kept["memoryBytes"]}
    return ForeignJob(
        app=asked.app,
        name=kept["name"],
        parameters=_parameters(asked),
        env={f"AGAVE_{name}": text for name, text in _variables(kept, whose).items()},
        resources=resources,
        timeout_s=seconds_of(kept["maxRunTime"]),
        inputs=inputs.files or None,
        outputs=outputs_of(kept),
        app_inputs=inputs.values,
    )


def new_facts(made: Answer, kept: Mapping[str, Any], whose: Whose) -> Row:
    """Return what `find_door_job` says of a job that was just submitted."""
    return {
        "batch_id": made["id"],
        "foreign_id": whose.job_id,
        "document": kept,
        "name": kept["name"],
        "owner": whose.owner,
        "tenant": whose.tenant,
        "created_at": made["added_at"].isoformat(),
        "hidden": False,
        "state": "ready",
        "cancelled_at": None,
        "cancel": None,
        "attempts": (),
        "changes": (),
    }


def _parameters(asked: Asked) -> dict[str, Any]:
    return {k: v for k, v in (asked.get("parameters") or {}).items() if v is not None}


def _macros(kept: Mapping[str, Any], whose: Whose) -> dict[str, str]:
    """Return what is known of a job before it has an archive, by the names of Agave."""
    texts = {
        "ID": whose.job_id,
        "NAME": slug(kept["name"]),
        "NAME_RAW": kept["name"],
        "APP_ID": kept["appId"],
        "OWNER": whose.owner,
        "TENANT": whose.tenant,
        "SYSTEM": kept["systemId"],
        "EXECUTION_SYSTEM": kept["systemId"],
        "BATCH_QUEUE": kept["batchQueue"],
        "NODE_COUNT": kept["nodeCount"],
        "PROCESSORS_PER_NODE": kept["processorsPerNode"],
        "MEMORY_PER_NODE": f"{kept['memoryPerNode']:g}",
        "MAX_RUNTIME": kept["maxRunTime"],
        "MAX_RUNTIME_SECONDS": seconds_of(kept["maxRunTime"]),
        "SUBMIT_TIME": instant(datetime.now(UTC)),
        "ARCHIVE": "1" if kept["archive"] else "0",
        "ARCHIVE_SYSTEM": kept["archiveSystem"] or STORE,
    }
    return {f"JOB_{name}": str(text) for name, text in texts.items()}


def _variables(kept: Mapping[str, Any], whose: Whose) -> dict[str, str]:
    """Return what wrappers are told, without `AGAVE_`."""
    return _macros(kept, whose) | {
        "JOB_WORK_PATH": ".",
        "JOB_ARCHIVE_PATH": kept["archivePath"],
        "JOB_ARCHIVE_URL": f"{whose.url}/outputs/listings",
        "JOB_CALLBACK_RUNNING": "",
        "JOB_CALLBACK_CLEANING_UP": "",
        "JOB_CALLBACK_ALIVE": "",
        "JOB_CALLBACK_NOTIFICATION": "",
        "JOB_CALLBACK_FAILURE": "",
    }


def check_archive_system(asked: Asked, stores: Mapping[str, str]) -> None:
    """Raise a 400 if its archive cannot be there. `stores`: of the tenant, with their access."""
    system = asked.get("archiveSystem") or STORE
    if system != STORE and system not in stores:
        known = ", ".join(sorted({STORE, *stores}))
        raise bad_request(f"archiveSystem: there is no storage system {system!r}, but {known}")
    if system != STORE and stores[system] != "write":
        raise bad_request(f"archiveSystem: nothing is written to storage system {system!r}")


def _archive_path(asked: Asked, kept: Mapping[str, Any], whose: Whose) -> str:
    """Return where in its store the archive is, as names between slashes."""
    given = asked.get("archivePath") or "${JOB_OWNER}/archive/jobs/job-${JOB_ID}"
    known = _macros(kept, whose)
    macros = {
        **known,
        **{f"AGAVE_{name}": text for name, text in known.items()},
        "UUID": whose.job_id,
        "OWNER": whose.owner,
        "USERNAME": whose.owner,
        "APP_ID": kept["appId"],
        "JOB_APP_ID": kept["appId"],
        "TENANT": whose.tenant,
    }
    if unknown := set(_MACRO.findall(given)) - macros.keys():
        raise bad_request(f"archivePath: there is no variable {min(unknown)[:80]!r}")
    path = _MACRO.sub(lambda match: macros[match[1]], given)
    try:
        return "/".join(parts_of("/".join(part for part in path.split("/") if part)))
    except WrongPath as error:
        raise bad_request(f"archivePath: {error}") from error


def _text(name: str, given: Mapping[str, Any]) -> str | None:
    value = given.get(name)
    if name == "memoryPerNode" and isinstance(value, int | float) and not isinstance(value, bool):
        value = f"{value:f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    if value is None:
        return "it is required" if name in {"name", "appId"} else None
    if not isinstance(value, str):
        return "expected a text"
    if len(value) > _TEXTS[name]:
        return f"{len(value)} characters, at most {_TEXTS[name]}"
    if name in {"name", "appId"} and not value.strip():
        return "it is blank"
    if name == "name" and not value.isprintable():
        return "it has characters that cannot be shown"
    if name == "memoryPerNode" and bytes_of(value) is None:
        return "expected a number above 0, with KB, MB, GB or TB"
    if name == "maxRunTime" and not seconds_of(value):
        return "expected HH:mm:ss, above 0"
    return None


def _number(name: str, given: Mapping[str, Any]) -> str | None:
    value = given.get(name, 1)
    is_right = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _INT_MAX
    return None if is_right else f"expected a whole number from 1 to {_INT_MAX}"


def _switch(name: str, given: Mapping[str, Any]) -> str | None:
    return None if isinstance(given.get(name, True), bool) else "expected true or false"


def _object(name: str, given: Mapping[str, Any]) -> str | None:
    return None if isinstance(given.get(name, {}), dict) else "expected an object"


_CHECKS: Final[
    tuple[tuple[tuple[str, ...], Callable[[str, Mapping[str, Any]], str | None]], ...]
] = ((tuple(_TEXTS), _text), (_NUMBERS, _number), (_SWITCHES, _switch), (_OBJECTS, _object))


def _is_plain(value: object, depth: int = 0) -> bool:
    """Say whether all texts can be stored, and nothing is nested too deeply."""
    if isinstance(value, str):
        return "\0" not in value
    if depth > _DEPTH_MAX:
        return False
    if isinstance(value, dict):
        return all(_is_plain(k) and _is_plain(v, depth + 1) for k, v in value.items())
    if isinstance(value, list):
        return all(_is_plain(one, depth + 1) for one in value)
    return True


def again(kept: Mapping[str, Any], *, notifies: bool) -> Asked:
    """Return the submission of a job, to be made once more; its archive gets a place of its own.
    `notifies`: with its subscriptions. Raise a 400 if it is none by now.
    """
    left = {"archivePath"} if notifies else {"archivePath", "notifications"}
    asked = {name: value for name, value in kept["asked"].items() if name not in left}
    return read_asked(asked)
