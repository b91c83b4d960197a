"""RO-Crates: what has run, as metadata that others read.

Profile: Workflow Run Crate 0.5 on RO-Crate 1.1 (https://w3id.org/ro/wfrun/workflow/0.5). The batch
is the workflow, each job an action; files and products are its data, in place or by their address.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from mimetypes import guess_type
from typing import Any, Final
from urllib.parse import quote, urlsplit

from weft.core.ids import format_batch_id, format_job_ref

METADATA: Final = "ro-crate-metadata.json"
WORKFLOW: Final = "workflow.json"
NO_LICENCE: Final = "No licence was given."
_TERMS: Final = "https://w3id.org/ro/terms/workflow-run#"
_CONTEXT: Final = [
    "https://w3id.org/ro/crate/1.1/context",
    {name: _TERMS + name for name in ("sha256", "ContainerImage", "containerImage")},
]
_PROFILES: Final = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
PARAMETER: Final = "param."
"""What begins the attributes of a job that are versions of parameters."""
_OWN: Final = frozenset({"trace_id"})
_OF_PLAN: Final = ("queue", "priority", "always_run", "attributes", "max_attempts", "app")
Entity = dict[str, Any]


@dataclass(frozen=True)
class Ran:
    """What is known of jobs that have ended, as the api says it."""

    batch: Mapping[str, Any]
    jobs: Sequence[Mapping[str, Any]]
    files: Mapping[int, Sequence[Mapping[str, Any]]]
    """Those that jobs have left, by job."""
    products: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Sequence[Mapping[str, Any]]]
    """The versions of parameters that were found, by name."""
    url: str
    """The address of the server."""
    version: str
    """Of weft."""
    whole: bool = True
    """These are all jobs of the batch."""


def path_in_crate(job_id: int, path: str) -> str:
    """Return where a file of a job, which weft keeps, stands in a crate that holds files."""
    return f"jobs/{job_id}/{path}"


def crate_of(
    ran: Ran, *, made_at: datetime, licence: str | None = None, holds_files: bool = False
) -> Mapping[str, str]:
    """Return the texts of a crate by their names: its metadata, and the jobs as they were asked
    for. `holds_files`: the files of jobs stand at `path_in_crate`.
    """
    plan = json.dumps(plan_of(ran), indent=1, ensure_ascii=False) + "\n"
    metadata = _Crate(ran, holds_files=holds_files).metadata(plan, made_at, licence)
    return {METADATA: json.dumps(metadata, indent=1, ensure_ascii=False) + "\n", WORKFLOW: plan}


def plan_of(ran: Ran) -> Mapping[str, Any]:
    """Return the jobs as they were asked for, with their numbers as positions."""
    jobs = []
    for job in ran.jobs:
        spec = {name: value for name, value in job["spec"].items() if name not in _OWN}
        plan = {name: job[name] for name in _OF_PLAN if job.get(name)}
        parents = {"parents": [*job["parents"]]} if ran.whole and job["parents"] else {}
        jobs.append({"name": job["name"], **spec, **plan, **parents})
    return {"name": ran.batch["name"], "attributes": ran.batch["attributes"], "jobs": jobs}


@dataclass
class _Crate:
    """The entities of a crate; each is there once."""

    ran: Ran
    holds_files: bool
    _entities: dict[str, Entity] = field(default_factory=dict)
    _outputs: dict[tuple[str, str], str] = field(default_factory=dict)
    """The files that jobs have left, by job number or name, and path."""

    def metadata(self, plan: str, made_at: datetime, licence: str | None) -> Entity:
        """Return the content of the metadata file."""
        ran = self.ran
        batch = ran.batch
        name = format_batch_id(batch["id"])
        if not ran.whole:
            name = format_job_ref(batch["id"], ran.jobs[0]["job_id"])
        title = f"{name} {batch['name'] or ''}".strip()
        self._add(
            WORKFLOW,
            ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            name=f"The jobs of {title}",
            encodingFormat="application/json",
            contentSize=str(len(plan.encode())),
            version=str(batch["id"]),
            sha256=hashlib.sha256(plan.encode()).hexdigest(),
            programmingLanguage=self._add(
                "#weft", "ComputerLanguage", name="weft", version=ran.version
            ),
        )
        for job in ran.jobs:
            self._add_outputs(job)
        actions = [one for job in ran.jobs if (one := self._add_action(job))]
        root = self._add_run(name, title, actions)
        workflow = self._entities[WORKFLOW]
        values = [entity for entity in self._entities.values() if "value" in entity]
        workflow["input"] = _each_once(map(self._add_parameter, values))
        described = [{"@id": key} for key, one in self._entities.items() if "File" in _types(one)]
        head = {
            "@id": METADATA,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": [
                {"@id": "https://w3id.org/ro/crate/1.1"},
                {"@id": [*_PROFILES][-1]},
            ],
        }
        crate = {
            "@id": "./",
            "@type": "Dataset",
            "name": title,
            "description": f"What {title} has run: jobs, files, products and parameters.",
            "datePublished": made_at.isoformat(timespec="seconds"),
            "license": self._licence(licence),
            "author": self._user(ran.batch["user"]),
            "conformsTo": [
                self._add(key, "CreativeWork", name=one[0], version=one[1])
                for key, one in _PROFILES.items()
            ],
            "mainEntity": {"@id": WORKFLOW},
            "hasPart": described,
            "mentions": [root, *actions],
        }
        graph: list[Entity] = [head, crate, *self._entities.values()]
        return {"@context": _CONTEXT, "@graph": [_compact(one) for one in graph]}

    def _add(self, key: str, kind: str | list[str], **fields: object) -> dict[str, str]:
        """Add an entity if it is not there; return what refers to it."""
        known = {name: value for name, value in fields.items() if value is not None}
        self._entities.setdefault(key, {"@id": key, "@type": kind, **known})
        return {"@id": key}

    def _licence(self, given: str | None) -> object:
        if given is None or not urlsplit(given).scheme:
            return given or NO_LICENCE
        return self._add(given, "CreativeWork", name=given)

    def _add_run(
        self, name: str, title: str, actions: Sequence[Mapping[str, str]]
    ) -> dict[str, str]:
        """Add the action of the whole."""
        jobs, batch = self.ran.jobs, self.ran.batch
        parts = [self._entities[action["@id"]] for action in actions]
        bad = [job for job in jobs if job["state"] != "success"]
        ends = [job["ended_at"] for job in jobs if job["ended_at"]]
        own = {"error": f"{len(bad)} of {len(jobs)} jobs did not succeed"} if bad else {}
        return self._add(
            f"#run-{name}",
            "CreateAction",
            name=f"Run of {title}",
            description=f"{len(jobs)} jobs of billing project {batch['billing_project']}",
            instrument={"@id": WORKFLOW},
            agent=self._user(batch["user"]),
            startTime=min(
                (one["startTime"] for one in parts if "startTime" in one),
                default=_moment(batch["created_at"]),
            ),
            endTime=_moment(max(ends, default=None)),
            actionStatus=_status(failed=bool(bad)),
            object=_each_once(one for part in parts for one in part.get("object", ())) or None,
            result=_each_once(one for part in parts for one in part.get("result", ())) or None,
            **own,
        )

    def _user(self, name: str) -> dict[str, str]:
        return self._add(f"#user-{quote(name, safe='')}", "Person", name=name)

    def _add_outputs(self, job: Mapping[str, Any]) -> None:
        for one in self.ran.files.get(job["job_id"], ()):
            key = self._place(job["job_id"], one)
            self._add(
                key,
                "File",
                name=one["path"],
                contentSize=str(one["bytes"]),
                encodingFormat=guess_type(one["path"])[0],
                sha256=one["sha256"],
                dateModified=_moment(one["kept_at"]),
            )
            for of in (f"j{job['job_id']}", job["name"]):
                self._outputs[of, one["path"]] = key

    def _place(self, job_id: int, one: Mapping[str, Any]) -> str:
        if one["address"] is not None:
            return _uri(one["address"])
        if self.holds_files:
            return quote(path_in_crate(job_id, one["path"]))
        batch = self.ran.batch["id"]
        return f"{self.ran.url}/v1/batches/{batch}/jobs/{job_id}/file?path={quote(one['path'])}"

    def _add_action(self, job: Mapping[str, Any]) -> dict[str, str] | None:
        """Add what a job has done; None: it did not run."""
        if not job["attempt"]:
            return None
        ref = format_job_ref(self.ran.batch["id"], job["job_id"])
        products = [product for product in self.ran.products if product["job_id"] == job["job_id"]]
        results = [
            {"@id": self._place(job["job_id"], one)}
            for one in self.ran.files.get(job["job_id"], ())
        ]
        results += [self._add_product(product) for product in products]
        bad = job["state"] != "success"
        why = job["message"] or job["reason"] or job["state"]
        return self._add(
            f"#{ref}",
            "CreateAction",
            name=f"{ref} {job['name'] or ''}".strip(),
            description=f"attempt {job['attempt']}, state {job['state']}, "
            f"exit code {job['exit_code']}",
            instrument=self._program(job),
            agent=self._user(job["user"]),
            startTime=_moment(job["started_at"]),
            endTime=_moment(job["ended_at"]),
            actionStatus=_status(failed=bad),
            error=why if bad else None,
            containerImage=self._image(job),
            object=self._inputs(job) or None,
            result=_each_once(results) or None,
        )

    def _program(self, job: Mapping[str, Any]) -> dict[str, str]:
        """Return what ran: the application, the program or the script."""
        spec = job["spec"]
        command, script = spec.get("command") or (), spec.get("script")
        if job.get("app"):
            name = job["app"]
        elif command:
            name = command[0]
        else:
            name = "script" if script else str(spec.get("executor", "no-op"))
        text = script or " ".join([name, *command[1:]])
        key = f"#program-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        return self._add(key, "SoftwareApplication", name=name, description=text[:1000])

    def _image(self, job: Mapping[str, Any]) -> dict[str, str] | None:
        image = (job["spec"].get("container") or {}).get("image")
        if not image:
            return None
        return self._add(
            f"#image-{quote(image, safe='')}",
            "ContainerImage",
            name=image,
            additionalType={"@id": f"{_TERMS}DockerImage"},
        )

    def _inputs(self, job: Mapping[str, Any]) -> list[Mapping[str, str]]:
        """Return what a job was given: files, and versions of parameters."""
        found: list[Mapping[str, str]] = []
        for one in job["spec"].get("inputs") or ():
            address = one["from"]
            of, _, path = address.removeprefix("weft://").partition("/")
            key = self._outputs.get((of, path)) if address.startswith("weft://") else None
            digest = (one.get("checksum") or "").removeprefix("sha256:") or None
            if key is None:
                batch = format_batch_id(self.ran.batch["id"])
                key = _uri(address if "://" in address else f"weft://{batch}/{address}")
                self._add(key, "File", name=address, sha256=digest)
            found.append({"@id": key})
        for name, version in job["attributes"].items():
            if name.startswith(PARAMETER):
                found.append(self._value(name.removeprefix(PARAMETER), version))
        return _each_once(found)

    def _value(self, name: str, version: str) -> dict[str, str]:
        """Add the value that a parameter had."""
        versions = self.ran.parameters.get(name, ())
        known = next((one for one in versions if str(one["version"]) == version), None)
        value = f"version {version}" if known is None else known["value"]
        text = value if isinstance(value, str | int | float) else json.dumps(value)
        return self._add(
            f"#value-{quote(name)}-{version}",
            "PropertyValue",
            name=name,
            value=text,
            version=version,
            exampleOfWork={"@id": f"#param-{quote(name)}"},
        )

    def _add_parameter(self, value: Entity) -> dict[str, str]:
        """Add the parameter of a value."""
        of = value["exampleOfWork"]["@id"]
        examples = [
            {"@id": entity["@id"]}
            for entity in self._entities.values()
            if entity.get("exampleOfWork") == {"@id": of}
        ]
        return self._add(
            of,
            "FormalParameter",
            name=value["name"],
            additionalType=_type_of(value["value"]),
            workExample=examples,
        )

    def _add_product(self, one: Mapping[str, Any]) -> dict[str, str]:
        """Add a product: by its address if it names one."""
        product = one["product"]
        address = product.get("url")
        is_file = isinstance(address, str) and bool(urlsplit(address).scheme)
        name = product.get("title") or product.get("name") or product.get("type")
        digest = product.get("sha256")
        return self._add(
            _uri(str(address)) if is_file else f"#product-{one['id']}",
            "File" if is_file else "CreativeWork",
            name=str(name or f"product {one['id']}"),
            dateCreated=_moment(one["kept_at"]),
            encodingFormat=guess_type(str(address))[0] if is_file else None,
            description=json.dumps(product, ensure_ascii=False),
            sha256=digest if isinstance(digest, str) else None,
        )


def _types(entity: Entity) -> Sequence[str]:
    kind = entity["@type"]
    return [kind] if isinstance(kind, str) else kind


def _each_once(found: Any) -> list[Mapping[str, str]]:  # noqa: ANN401 (any iterable of references)
    return [{"@id": key} for key in dict.fromkeys(one["@id"] for one in found)]


def _uri(address: str) -> str:
    return quote(address, safe=":/?#[]@!$&'()*+,;=%~-._")


def _status(*, failed: bool) -> str:
    return f"http://schema.org/{'Failed' if failed else 'Completed'}ActionStatus"


def _moment(at: str | None) -> str | None:
    """Return a date in milliseconds, as the profile wants it."""
    return None if at is None else datetime.fromisoformat(at).isoformat(timespec="milliseconds")


def _compact(entity: Entity) -> Entity:
    """Return an entity in which a list of one is that one."""
    return {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value
        for name, value in entity.items()
    }


def _type_of(value: object) -> str:
    if isinstance(value, bool):
        return "Boolean"
    if isinstance(value, int):
        return "Integer"
    return "Float" if isinstance(value, float) else "Text"
