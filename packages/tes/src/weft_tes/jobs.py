"""From tasks of TES to jobs of weft: one job, whose script runs the executors in turn; their
inputs and outputs as files of jobs, and back.
"""

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from weft.core.billing.resources import MIB
from weft.core.files.file_paths import WrongPath
from weft.core.files.file_stores import source_at, target_at
from weft.ports.store import Row
from weft.wire.documents.containers import ContainerDocument
from weft.wire.documents.field_types import MaxAttempts, Priority
from weft.wire.documents.files import FileInput, FileOutput
from weft.wire.documents.foreign_jobs import ForeignJob
from weft_tes.refused import bad_request
from weft_tes.tasks import (
    TAG,
    WILDCARDS,
    Task,
    TaskExecutor,
    TaskOutput,
    TaskResources,
    own_path,
    paths_of,
)

_WEFT: Final = "weft://"
_Find = Callable[[str, Sequence[Row]], str]


def inputs_of(task: Task, stores: Sequence[Row]) -> tuple[FileInput, ...] | None:
    """Return what a job gets that its task does not hold. Raise a 400."""
    found = []
    for path, one in zip(paths_of(task), task.inputs or (), strict=False):
        at = path.field.partition(".")[0]
        if one.type == "DIRECTORY":
            raise bad_request(f"{at}.type: weft brings files only: name each, or pack them")
        if one.content is None:
            if one.url is None:
                raise bad_request(f"{at}: it has neither url nor content")
            source = _meant(source_at, f"{at}.url", one.url, stores)
            found.append(FileInput(from_=source, to=path.own))
    return tuple(found) or None


class Kept(NamedTuple):
    """An output, and what stands in the task for where weft keeps it; with a slash at the ends of
    all: of a directory.
    """

    output: FileOutput
    url: str
    path: str


def outputs_of(task: Task, stores: Sequence[Row]) -> list[Kept]:
    """Return what is kept of a job whose task is complete. Raise a 400."""
    return [_kept(f"outputs[{n}]", one, stores) for n, one in enumerate(task.outputs or ())]


def output_logs(
    targets: Sequence[Sequence[str]], job: str, kept: Sequence[Row]
) -> list[dict[str, str]]:
    """Return what is told of the files that a job has left. `targets`: of each output where weft
    keeps it, its url and its path.
    """
    found = []
    for row in kept:
        name = row["address"] or row["path"]
        for to, url, path in targets:
            if name == to or (to.endswith("/") and name.startswith(to)):
                rest = name[len(to) :]
                shown = f"{_WEFT}{job}/{name}" if url.startswith(_WEFT) else url + rest
                size = str(row["bytes"])
                found.append({"url": shown, "path": path + rest, "size_bytes": size})
                break
    return found


def _kept(at: str, one: TaskOutput, stores: Sequence[Row]) -> Kept:
    is_directory = one.type == "DIRECTORY"
    own = own_path(f"{at}.path", one.path, is_directory)
    to = _meant(target_at, f"{at}.url", one.url, stores)
    if not WILDCARDS & {*own} and not is_directory:
        return Kept(FileOutput(from_=own, to=to), one.url, one.path)
    pattern = own if WILDCARDS & {*own} else f"{own}/*"
    names = pattern.split("/")
    fixed = names[: next(n for n, name in enumerate(names) if WILDCARDS & {*name})]
    path = f"/{'/'.join(fixed)}/"
    prefix = (one.path_prefix or (path if pattern != own else "")).rstrip("/") + "/"
    if not path.startswith(prefix) or prefix == "/":
        raise bad_request(f"{at}.path_prefix: expected a directory with which the path begins")
    rest = path.removeprefix(prefix)
    output = FileOutput(
        from_=pattern, to=f"{to.rstrip('/')}/{rest}", strip=True, optional=is_directory
    )
    return Kept(output, f"{one.url.rstrip('/')}/{rest}", path)


def _meant(find: _Find, at: str, url: str, stores: Sequence[Row]) -> str:
    try:
        return find(url, stores)
    except WrongPath as error:
        raise bad_request(f"{at}: {error}") from error


QUEUE, PRIORITY = "weft.queue", "weft.priority"
PROJECT, ATTEMPTS = "weft.billing_project", "weft.attempts"
PARAMETERS: Final = (QUEUE, PRIORITY, PROJECT, ATTEMPTS)
ENDS: Final = f"{TAG}/ends"
"""The file in which the script notes how executors ended, with the tails of their output."""
TAIL_BYTES: Final = 10_240
_GB: Final = 10**9
_MEMORY: Final = 512 << 20
_IMAGES: Final = ("docker://", "oci:", "dir:")
_TURN: Final = f"""\
tes() {{
  ignored=$1 out=${{2:-$tes/out}} err=${{3:-$tes/err}} begun=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  (run) >"$out" 2>"$err"
  code=$? ended=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  cat "$out"; cat "$err" >&2
  tail -c {TAIL_BYTES} "$out" >"$tes/o"; tail -c {TAIL_BYTES} "$err" >"$tes/e"
  {{ echo "$code $begun $ended" $(wc -c <"$tes/o") $(wc -c <"$tes/e"); cat "$tes/o" "$tes/e"
  }} >>"$tes/ends"
  [ $code = 0 ] || [ $ignored = 1 ] || exit $code
}}
"""


def parameters_of(task: Task) -> dict[str, str]:
    """Return what a task says to weft alone, in lower case. Raise a 400."""
    resources = task.resources
    said = (resources.backend_parameters if resources else None) or {}
    known = {name.lower(): text for name, text in said.items() if name.lower() in PARAMETERS}
    if resources and resources.backend_parameters_strict and len(known) < len(said):
        unknown = next(name for name in said if name.lower() not in PARAMETERS)
        raise bad_request(
            f"resources.backend_parameters: {unknown[:80]!r} is none of {', '.join(PARAMETERS)}"
        )
    return known


def job_of(task: Task, stores: Sequence[Row], *, in_images: bool) -> ForeignJob:
    """Return the job of a task. Raise a 400."""
    said, first = parameters_of(task), task.executors[0]
    tops = dict.fromkeys(one.own.partition("/")[0] for one in paths_of(task))
    notes = (FileOutput(from_=ENDS, when="always", optional=True),) if is_noted(task) else ()
    job = ForeignJob(
        inputs=inputs_of(task, stores),
        outputs=(*(one.output for one in outputs_of(task, stores)), *notes) or None,
        resources=_resources(task.resources or TaskResources()),
        preemptible=task.resources.preemptible if task.resources else None,
        queue=said.get(QUEUE),
        priority=_number(said, PRIORITY, Priority, 0),
        max_attempts=_number(said, ATTEMPTS, MaxAttempts, 1),
        original=msgspec.json.encode([one.content for one in task.inputs or ()]),
        own_paths=tuple(f"/{top}/" for top in tops) or None,
    )
    if in_images:
        job.container, job.network = _container(task), True
    if not (notes or tops or first.workdir):
        job.command, job.env = tuple(first.command), first.env
        return job
    job.script = "".join(_script(task))
    job.env = {
        _prefix(task, n) + name: value
        for n, one in enumerate(task.executors)
        for name, value in (one.env or {}).items()
    }
    return job


def is_noted(task: Task) -> bool:
    """Say whether the script must note how executors ended: the job's own end does not tell."""
    first = task.executors[0]
    return len(task.executors) > 1 or bool(first.ignore_error or first.stdout or first.stderr)


def _script(task: Task) -> Iterator[str]:
    yield "#!/bin/sh\n"
    made = {p.path if p.is_directory else p.path.rpartition("/")[0] for p in paths_of(task)}
    if directories := sorted(path for path in made if not WILDCARDS & {*path}):
        yield f"mkdir -p {shlex.join(directories)} || exit 125\n"
    for one in task.inputs or ():
        if one.content is not None:
            yield f"printf %s {shlex.quote(one.content)} >{shlex.quote(one.path)} || exit 125\n"
    if not is_noted(task):
        yield from _run(task.executors[0], "")
        return
    yield f'tes=$PWD/{TAG}; mkdir -p "$tes" || exit 125\n{_TURN}'
    for n, executor in enumerate(task.executors):
        ignored = str(int(executor.ignore_error))
        yield "run() {\n"
        yield from _run(executor, _prefix(task, n))
        words = shlex.join([ignored, executor.stdout or "", executor.stderr or ""])
        yield f"}}\ntes {words}\n"


def _run(one: TaskExecutor, prefix: str) -> Iterator[str]:
    for name in (one.env or {}) if prefix else ():
        yield f'export {name}="${prefix}{name}"\n'
    if one.workdir:
        there = shlex.quote(one.workdir)
        yield f"mkdir -p {there} 2>/dev/null; cd {there} || exit 125\n"
    stdin = f" <{shlex.quote(one.stdin)}" if one.stdin else ""
    yield f"exec {shlex.join(one.command)}{stdin}\n"


def _prefix(task: Task, n: int) -> str:
    """Return how variables of an executor begin in the job: there are those of the others."""
    return f"TES_{n}_" if len(task.executors) > 1 else ""


def _resources(wanted: TaskResources) -> dict[str, Any]:
    memory, storage = (gb and max(MIB, round(gb * _GB)) for gb in (wanted.ram_gb, wanted.disk_gb))
    amounts = {"cpu": wanted.cpu_cores or 1, "memory": memory or _MEMORY, "storage": storage}
    return {name: amount for name, amount in amounts.items() if amount}


def _container(task: Task) -> ContainerDocument:
    images = dict.fromkeys(one.image for one in task.executors)
    if len(images) > 1:
        raise bad_request("executors: those of one task run in one image here")
    (image,) = images
    name = image if image.startswith(_IMAGES) else f"docker://{image}"
    try:
        return msgspec.convert({"image": name}, ContainerDocument)
    except msgspec.ValidationError:
        raise bad_request(f"executors[0].image: {image[:200]!r} is no image") from None


def _number(said: dict[str, str], name: str, kind: Any, usual: int) -> int:  # noqa: ANN401 (a type)
    try:
        return int(msgspec.convert(said.get(name, usual), kind, strict=False))
    except msgspec.ValidationError as error:
        raise bad_request(f"resources.backend_parameters.{name}: {error}") from error
