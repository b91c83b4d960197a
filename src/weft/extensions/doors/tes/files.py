"""Inputs and outputs of tasks as files of jobs, and back."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from weft.core.files.file_paths import WrongPath
from weft.core.files.file_stores import source_at, target_at
from weft.extensions.doors.tes.refused import bad_request
from weft.extensions.doors.tes.tasks import WILDCARDS, Task, TaskOutput, own_path, paths_of
from weft.ports.store import Row
from weft.wire.documents.files import FileInput, FileOutput

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
