"""From documents of groups to the rows that the store takes."""

from collections.abc import Iterable, Mapping, Sequence

from weft.api.check import check_attributes
from weft.core.addresses import parse_allowed_hosts
from weft.core.callback_url import wrong_callback
from weft.core.errors import InvalidValue
from weft.core.group_tree import PlannedGroup, wrong_path
from weft.core.problems import Problems, pointer_of
from weft.core.texts import wrong_name
from weft.ports.store import NewGroup
from weft.settings import Settings
from weft.wire.documents import GroupDocument, GroupInBunch, JobDocument


def check_callback(url: str | None, settings: Settings, problems: Problems, pointer: str) -> None:
    """Note if this is not an address that may be called, as far as its text tells."""
    allowed = parse_allowed_hosts(settings.callback_private_hosts)
    if url is not None and (wrong := wrong_callback(url, allowed)):
        problems.add(InvalidValue, pointer, wrong)


def paths_of(
    groups: Sequence[GroupDocument],
    jobs: Iterable[JobDocument],
    settings: Settings,
    problems: Problems,
) -> list[str]:
    """Return the paths that a document declares or uses, in order, each once; what is wrong is
    noted and left out.
    """
    pointers: dict[str, str] = {}
    for index, group in enumerate(groups):
        at = pointer_of("groups", index)
        if group.path in pointers or group.path == "/":
            problems.add(InvalidValue, f"{at}/path", "this group is there already")
        pointers.setdefault(group.path, f"{at}/path")
        check_attributes(group.attributes, settings, problems, f"{at}/attributes")
        check_callback(group.callback, settings, problems, f"{at}/callback")
    for index, job in enumerate(jobs):
        if isinstance(job.group, str):
            pointers.setdefault(job.group, pointer_of("jobs", index, "group"))
    good: list[str] = []
    for path, pointer in pointers.items():
        wrong = wrong_path(
            path, depth_max=settings.group_depth_max, name_chars_max=settings.name_chars_max
        )
        if wrong:
            problems.add(InvalidValue, pointer, wrong)
        else:
            good.append(path)
    return good


def planned_rows(
    planned: Iterable[PlannedGroup], groups: Iterable[GroupDocument]
) -> list[NewGroup]:
    """Return the rows of the groups to be made, with what their documents say if they have one."""
    document = {group.path: group for group in groups}
    bare = GroupDocument(path="/")
    return [
        NewGroup(
            group_id=one.group_id,
            parent_id=one.parent_id,
            name=one.name,
            attributes=document.get(one.path, bare).attributes,
            cancel_after_n_failures=document.get(one.path, bare).cancel_after_n_failures,
            callback=document.get(one.path, bare).callback,
        )
        for one in planned
    ]


def check_existing(
    groups: Sequence[GroupDocument], existing: Mapping[str, int], problems: Problems
) -> None:
    """Note each declared group that the batch has already: what the document says of it would be
    lost.
    """
    for index, group in enumerate(groups):
        if group.path in existing:
            problems.add(
                InvalidValue, pointer_of("groups", index, "path"), "this group is there already"
            )


def bunch_rows(
    groups: Sequence[GroupInBunch], first: int, settings: Settings, problems: Problems
) -> list[NewGroup]:
    """Return the rows of a bunch of groups."""
    rows: list[NewGroup] = []
    for index, group in enumerate(groups):
        at = pointer_of("groups", index)
        wrong = wrong_name(group.name, chars_max=settings.name_chars_max)
        if wrong or "/" in group.name:
            problems.add(InvalidValue, f"{at}/name", wrong or "a name holds no '/'")
        if group.parent >= first + index:
            message = (
                f"parent {group.parent} is not below its child, which is group {first + index}"
            )
            problems.add(InvalidValue, f"{at}/parent", message)
        check_attributes(group.attributes, settings, problems, f"{at}/attributes")
        check_callback(group.callback, settings, problems, f"{at}/callback")
        rows.append(
            NewGroup(
                group_id=first + index,
                parent_id=group.parent,
                name=group.name,
                attributes=group.attributes,
                callback=group.callback,
                cancel_after_n_failures=group.cancel_after_n_failures,
            )
        )
    return rows
