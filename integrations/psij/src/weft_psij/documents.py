"""What a job of PSI/J is in the words of weft."""

import shlex
from collections.abc import Iterator, Mapping
from copy import copy
from pathlib import Path
from typing import Any, Final

from psij import InvalidJobException, Job, JobSpec, Launcher, ResourceSpecV1

FUNCTIONS: Final = Path(__file__).with_name("job.sh").read_text()
OWN: Final = "weft."
HERE: Final = (None, "localhost")


def document_of(job: Job, spec: JobSpec, launcher: Launcher) -> dict[str, Any]:
    """Return the document of a job. Raise `InvalidJobException`."""
    if not spec.executable:
        raise InvalidJobException("the job has no executable")
    resources = spec.resources if isinstance(spec.resources, ResourceSpecV1) else None
    if resources is None or resources.computed_node_count > 1:
        raise InvalidJobException("a job on weft has one node: ask for node_count=1")
    attributes = spec.attributes
    if attributes and attributes.reservation_id:
        raise InvalidJobException("weft has no reservations: leave reservation_id out")
    document: dict[str, Any] = {
        "name": spec.name,
        "script": FUNCTIONS + "\n".join(_calls(job, spec, launcher, resources)) + "\n",
        "env": spec.environment or None,
        "cwd": str(Path(spec.directory or ".").absolute()),
        "resources": _amounts(resources),
        "timeout_s": attributes and attributes.duration and attributes.duration.total_seconds(),
        "queue": attributes and attributes.queue_name,
    }
    custom = (attributes and attributes.custom_attributes) or {}
    own = {name.removeprefix(OWN): custom[name] for name in custom if name.startswith(OWN)}
    return {word: value for word, value in (document | own).items() if value is not None}


def _amounts(resources: ResourceSpecV1) -> Mapping[str, Any]:
    n_processes = resources.computed_process_count
    amounts = {
        "cpu": n_processes * (resources.cpu_cores_per_process or 1),
        "gpu": n_processes * (resources.gpu_cores_per_process or 0),
        "memory": resources.memory,
    }
    return {word: amount for word, amount in amounts.items() if amount}


def _calls(
    job: Job, spec: JobSpec, launcher: Launcher, resources: ResourceSpecV1
) -> Iterator[str]:
    """Yield the lines of the script. PSI/J before 1 has no staging in its releases."""
    for each in getattr(spec, "stage_in", None) or ():
        yield shlex.join(["stage", each.mode.name, "0", _path(each.source), str(each.target)])
    yield "export PSIJ_NODEFILE=$(mktemp)"
    yield f"yes $HOSTNAME | head -n {resources.computed_process_count} >$PSIJ_NODEFILE"
    yield f"launch {_environment(spec)}{shlex.join(_command(job, spec, launcher))}"
    yield "rm -f $PSIJ_NODEFILE"
    for each in getattr(spec, "stage_out", None) or ():
        words = [str(each.flags.value), each.mode.name, str(each.source), _path(each.target)]
        yield shlex.join(["stage_out", *words])
    for path in getattr(spec, "cleanup", None) or ():
        yield shlex.join(["clean", str(spec.cleanup_flags.value), str(path)])
    yield "exit $code"


def _environment(spec: JobSpec) -> str:
    """Return what starts the command with the environment of the specification alone."""
    if spec.inherit_environment:
        return ""
    names = ["PSIJ_NODEFILE", *(spec.environment or {})]
    return " ".join(["env -i", *(f'{name}="${name}"' for name in names), ""])


def _command(job: Job, spec: JobSpec, launcher: Launcher) -> list[str]:
    """Return the launcher's command; what goes to no file goes to the log of the job."""
    shown, shown.spec = copy(job), copy(spec)
    shown.spec.stdout_path = spec.stdout_path or Path("/dev/stdout")
    shown.spec.stderr_path = spec.stderr_path or Path("/dev/stderr")
    return [str(word) for word in launcher.get_launch_command(shown)]


def _path(uri: Any) -> str:  # noqa: ANN401 (`psij.staging` may not be there)
    """Return a file of this host, absolute. Raise `InvalidJobException`."""
    if uri.scheme not in ("", "file") or uri.hostname not in HERE:
        raise InvalidJobException(f"cannot stage {uri}: only files that the worker's host has")
    return str(Path(uri.path).absolute())
