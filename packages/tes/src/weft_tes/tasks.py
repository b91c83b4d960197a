"""The documents of tasks, as clients send them. Fields that nobody knows are ignored."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from weft.core.bounded import Unreadable, read_json
from weft.core.files.file_paths import WrongPath, parts_of
from weft.wire.description import END
from weft_tes.refused import bad_request

DOCUMENT_BYTES_MAX: Final = 128 << 10
"""Of what is kept of a task for its lists, which is all but the contents of its inputs."""
TAG: Final = ".tes"
"""The directory of the job in which its script notes how executors ended."""
_SYSTEM: Final = frozenset(
    f"{TAG} bin boot dev etc lib lib32 lib64 proc run sbin sys usr weft".split()
)
"""Directories that a task cannot have for itself."""
WILDCARDS: Final = frozenset("*?[")
_MANY: Final = Meta(max_length=1000)
_Kind = Literal["FILE", "DIRECTORY"]
_Text = Annotated[str, Meta(max_length=4096)]
_Name = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,254}" + END)]


class _Described(Struct, frozen=True, omit_defaults=True, kw_only=True):
    name: _Text | None = None
    description: str | None = None


class TaskInput(_Described, frozen=True, omit_defaults=True, kw_only=True):
    """A file that a task gets."""

    path: _Text
    url: _Text | None = None
    content: str | None = None
    type: _Kind = "FILE"
    streamable: bool | None = None


class TaskOutput(_Described, frozen=True, omit_defaults=True, kw_only=True):
    """What is kept of a task."""

    path: _Text
    url: _Text
    path_prefix: _Text | None = None
    type: _Kind = "FILE"


class TaskExecutor(Struct, frozen=True, omit_defaults=True):
    """A command, and what it runs in."""

    image: Annotated[str, Meta(min_length=1, max_length=1024)]
    command: Annotated[list[str], Meta(min_length=1)]
    workdir: _Text | None = None
    stdin: _Text | None = None
    stdout: _Text | None = None
    stderr: _Text | None = None
    env: dict[_Name, str] | None = None
    ignore_error: bool = False


class TaskResources(Struct, frozen=True, omit_defaults=True):
    """What a task needs."""

    cpu_cores: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    preemptible: bool | None = None
    ram_gb: Annotated[float, Meta(ge=0, le=1e9)] | None = None
    disk_gb: Annotated[float, Meta(ge=0, le=1e9)] | None = None
    zones: list[_Text] | None = None
    backend_parameters: dict[str, _Text] | None = None
    backend_parameters_strict: bool | None = None


class Task(_Described, frozen=True, omit_defaults=True, kw_only=True):
    """A task."""

    executors: Annotated[list[TaskExecutor], Meta(min_length=1, max_length=100)]
    inputs: Annotated[list[TaskInput], _MANY] | None = None
    outputs: Annotated[list[TaskOutput], _MANY] | None = None
    resources: TaskResources | None = None
    volumes: Annotated[list[_Text], _MANY] | None = None
    tags: dict[_Text, _Text] | None = None


def read_task(data: bytes) -> Task:
    """Read a task and check what its types do not say. Raise a 400."""
    try:
        body = read_json(data)
        task: Task = msgspec.convert(_present(body) if isinstance(body, dict) else body, Task)
    except Unreadable as error:
        raise bad_request(f"the body is not JSON: {error}") from error
    except msgspec.ValidationError as error:
        raise bad_request(str(error)) from error
    for path in paths_of(task):
        own_path(*path)
    return task


class OwnPath(NamedTuple):
    """A path that a task has for itself, and in which field."""

    field: str
    path: str
    is_directory: bool = False

    @property
    def own(self) -> str:
        """Return where it is in the job's directory. Raise a 400."""
        return own_path(*self)


def paths_of(task: Task) -> Iterator[OwnPath]:
    """Yield the paths that a task has for itself."""
    for n, file in enumerate(task.inputs or ()):
        yield OwnPath(f"inputs[{n}].path", file.path, file.type == "DIRECTORY")
    for n, out in enumerate(task.outputs or ()):
        yield OwnPath(f"outputs[{n}].path", out.path, out.type == "DIRECTORY")
    for n, executor in enumerate(task.executors):
        for field in ("stdin", "stdout", "stderr"):
            if path := getattr(executor, field):
                yield OwnPath(f"executors[{n}].{field}", path)
    for n, path in enumerate(task.volumes or ()):
        yield OwnPath(f"volumes[{n}]", path, is_directory=True)


def own_path(field: str, path: str, is_directory: bool) -> str:  # noqa: FBT001 (of a tuple)
    """Return where in the job's directory an absolute path of its task is. Raise a 400."""
    if not path.startswith("/"):
        raise bad_request(f"{field}: {path[:200]!r} is not absolute")
    try:
        parts = parts_of(path[1:].rstrip("/") if is_directory else path[1:])
    except WrongPath as error:
        raise bad_request(f"{field}: {path[:200]!r}: {error}") from error
    if parts[0] in _SYSTEM:
        raise bad_request(f"{field}: a task has no /{parts[0]} of its own; use /data, say")
    if WILDCARDS & {*parts[0]} or (len(parts) == 1 and not is_directory):
        raise bad_request(f"{field}: {path[:200]!r} must be in a directory, such as /data")
    return "/".join(parts)


def _present(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Return a value without fields that are null, which means that they are not there."""
    if isinstance(value, str) and "\0" in value:
        raise bad_request("a text in it has a NUL character")
    if isinstance(value, dict):
        return {_present(name): _present(one) for name, one in value.items() if one is not None}
    return [_present(one) for one in value] if isinstance(value, list) else value
