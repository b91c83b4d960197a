"""What other systems call the fields of documents, for those who look for them here."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

from weft.core.text.texts import nearest

_SYNONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "retries": "max_attempts",
        "backoff": "retry",
        "retry_policy": "retry",
        "retry_delay": "retry",
        "attempts": "max_attempts",
        "cpu": "resources.cpu",
        "cpus": "resources.cpu",
        "cores": "resources.cpu",
        "threads": "resources.cpu",
        "ncpus": "resources.cpu",
        "mem": "resources.memory",
        "memory": "resources.memory",
        "ram": "resources.memory",
        "disk": "resources.storage",
        "storage": "resources.storage",
        "gpu": "resources.gpu",
        "gpus": "resources.gpu",
        "cmd": "command",
        "run": "script",
        "shell": "script",
        "commands": "script",
        "depends": "parents",
        "depends_on": "parents",
        "dependencies": "parents",
        "needs": "parents",
        "after": "parents",
        "requires": "parents",
        "timeout": "timeout_s",
        "walltime": "timeout_s",
        "time": "timeout_s",
        "environment": "env",
        "vars": "env",
        "variables": "env",
        "dir": "cwd",
        "workdir": "cwd",
        "working_directory": "cwd",
        "chdir": "cwd",
        "array": "count",
        "size": "count",
        "replicas": "count",
        "items": "values",
        "list": "values",
        "matrix": "values",
        "foreach": "values",
        "labels": "attributes",
        "tags": "attributes",
        "metadata": "attributes",
        "id": "name",
        "title": "name",
        "project": "billing_project",
        "account": "billing_project",
        "image": "container",
        "licence": "resources",
        "licences": "resources",
        "licenses": "resources",
        "tasks": "jobs",
        "steps": "jobs",
        "parallelism": "max_running",
        "stage": "group",
    }
)
_IN_RESOURCES: Final = "resources."


def nearest_field(name: str, known: Collection[str]) -> str | None:
    """Return the field that was probably meant, `resources.cpu` for one within `resources`."""
    meant = _SYNONYMS.get(name.lower().replace("-", "_"), "")
    inner = meant.removeprefix(_IN_RESOURCES)
    if meant in known or (meant != inner and "resources" in known):
        return meant
    if inner in known and inner != name:
        return inner
    return nearest(name, known)
