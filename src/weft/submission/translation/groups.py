"""From documents of groups to the rows that the store takes."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.callback_url import wrong_callback
from weft.core.errors import FieldError, InvalidValue, WrongType
from weft.core.graph.group_tree import PlannedGroup, is_like_number, wrong_path
from weft.core.problems import Problems, pointer_of
from weft.core.text.texts import wrong_name
from weft.ports.store import NewGroup
from weft.settings import Settings
from weft.submission.translation.check import check_attributes
from weft.submission.translation.context import DocumentContext
from weft.wire.documents.groups import GroupDocument, GroupInBunch
from weft.wire.documents.jobs import JobDocument
from weft.wire.spec import cut_values


def check_callback(url: str | None, settings: Settings, problems: Problems, pointer: str) -> None:
    """Note a callback whose text shows that it must not be called."""
    allowed = parse_allowed_hosts(settings.callback_private_hosts)
    if url is not None and (wrong := wrong_callback(url, allowed)):
        problems.add(InvalidValue, pointer, wrong)


def wrong_set_name(name: str, settings: Settings) -> str | None:
    """Return why a set cannot have this name, for example because of its meaning in a URL."""
    wrong = wrong_name(name, chars_max=settings.name_chars_max)
    if not wrong and "/" in name:
        return "the name of a set cannot contain '/'"
    if not wrong and is_like_number(name):
        return "the name of a set cannot look like a number"
    return wrong


def check_set_name(name: str, settings: Settings, problems: Problems, pointer: str) -> None:
    """Note a name that a set cannot have."""
    if wrong := wrong_set_name(name, settings):
        problems.add(InvalidValue, pointer, wrong)


def named_groups(
    groups: Sequence[GroupDocument],
    jobs: Iterable[JobDocument],
    settings: Settings,
    problems: Problems,
) -> tuple[list[str], list[str]]:
    """Return the paths and the names of sets that a document declares or uses, each once and in
    order; what is wrong is noted and left out.
    """
    paths: dict[str, str] = {"/": ""}
    sets: dict[str, str] = {}
    for index, group in enumerate(groups):
        at = pointer_of("groups", index)
        _declare(group, at, paths, sets, problems)
        check_attributes(group.attributes, settings, problems, f"{at}/attributes")
        check_callback(group.callback, settings, problems, f"{at}/callback")
    for index, job in enumerate(jobs):
        if isinstance(job.group, str):
            paths.setdefault(job.group, pointer_of("jobs", index, "group"))
        if job.groups:
            for n, name in enumerate(job.groups):
                if isinstance(name, str):
                    sets.setdefault(name, pointer_of("jobs", index, "groups", n))
    del paths["/"]
    for path, pointer in list(paths.items()):
        wrong = wrong_path(
            path, depth_max=settings.group_depth_max, name_chars_max=settings.name_chars_max
        )
        if wrong:
            problems.add(InvalidValue, pointer, wrong)
            del paths[path]
    for name, pointer in list(sets.items()):
        if wrong := wrong_set_name(name, settings):
            problems.add(InvalidValue, pointer, wrong)
            del sets[name]
    return list(paths), list(sets)


def _declare(
    group: GroupDocument, at: str, paths: dict[str, str], sets: dict[str, str], problems: Problems
) -> None:
    """Record the group under its path or name, with the pointer to it."""
    if (group.path is None) == (group.name is None):
        message = "a group has either a path in the tree or the name of a set"
        problems.add(WrongType, f"{at}/path", message)
        return
    kind, word, known = ("tree", "path", paths) if group.name is None else ("set", "name", sets)
    if group.kind not in {None, kind}:
        problems.add(InvalidValue, f"{at}/kind", f"a group with a {word} is of kind {kind!r}")
    given = getattr(group, word)
    if given in known:
        what = "group" if kind == "tree" else kind
        problems.add(InvalidValue, f"{at}/{word}", f"this {what} exists already")
    known.setdefault(given, f"{at}/{word}")


def planned_rows(
    planned: Iterable[PlannedGroup], sets: Mapping[str, int], groups: Iterable[GroupDocument]
) -> list[NewGroup]:
    """Return the rows of the new groups, with what their documents say if they have one.

    `sets`: names with their numbers; existing sets have negative ones.
    """
    bare = GroupDocument()
    document = {group.path or group.name: group for group in groups}
    rows = [
        _row(group.group_id, group.parent_id, group.name, document.get(group.path, bare))
        for group in planned
    ]
    rows += [
        _row(number, 0, name, document.get(name, bare), is_set=True)
        for name, number in sets.items()
        if number > 0
    ]
    return rows


def _row(
    group_id: int,
    parent_id: int,
    name: str,
    document: GroupDocument | GroupInBunch,
    *,
    is_set: bool = False,
) -> NewGroup:
    return NewGroup(
        group_id=group_id,
        parent_id=parent_id,
        name=name,
        is_set=is_set,
        attributes=document.attributes,
        cancel_after_n_failures=document.cancel_after_n_failures,
        callback=document.callback,
    )


def declared_again(
    groups: Sequence[GroupDocument], existing: Container[str]
) -> dict[str, FieldError]:
    """Return the pointer to each declared group that exists already, by path or name: what the
    document says of it would be lost.
    """
    found: dict[str, FieldError] = {}
    for index, group in enumerate(groups):
        field, key = ("path", group.path) if group.path else ("name", group.name)
        if key in existing:
            at = pointer_of("groups", index, field)
            found[str(key)] = FieldError(at, "this group exists already")
    return found


def bunch_rows(
    groups: Sequence[GroupInBunch], first: int, settings: Settings, problems: Problems
) -> list[NewGroup]:
    """Return the rows of a bunch of groups."""
    rows: list[NewGroup] = []
    for index, group in enumerate(groups):
        at = pointer_of("groups", index)
        wrong = wrong_name(group.name, chars_max=settings.name_chars_max)
        if group.kind == "set":
            check_set_name(group.name, settings, problems, f"{at}/name")
            if group.parent:
                problems.add(InvalidValue, f"{at}/parent", "a set has no parent")
        elif wrong or "/" in group.name:
            problems.add(InvalidValue, f"{at}/name", wrong or "a name cannot contain '/'")
        if group.parent >= first + index:
            message = f"parent {group.parent} is not below its child, group {first + index}"
            problems.add(InvalidValue, f"{at}/parent", message)
        check_attributes(group.attributes, settings, problems, f"{at}/attributes")
        check_callback(group.callback, settings, problems, f"{at}/callback")
        is_set = group.kind == "set"
        rows.append(_row(first + index, group.parent, group.name, group, is_set=is_set))
    return rows


GROUP_MAX = 2_000_000_000


@dataclass
class Combos:
    """The columns `combo_…` of `JobRows`."""

    index: list[int] = field(default_factory=list)
    number: list[int] = field(default_factory=list)
    sets: list[int] = field(default_factory=list)


def sets_of(jobs: Sequence[JobDocument], context: DocumentContext, problems: Problems) -> Combos:
    """Return the combinations of sets and which of them each job is in."""
    combos = Combos()
    if not any(job.groups for job in jobs):
        return combos
    known: dict[tuple[int | str, ...], int] = {(): 0}
    for index, job in enumerate(jobs):
        number = known.get(job.groups)
        if number is None:
            number = known[job.groups] = len(known)
            sets = _numbers(job.groups, f"/jobs/{index}/groups", context, problems)
            combos.number += [number] * len(sets)
            combos.sets += sets
        combos.index.append(number)
    return combos


def _numbers(
    names: Sequence[int | str], at: str, context: DocumentContext, problems: Problems
) -> list[int]:
    if len(names) > context.settings.job_sets_max:
        message = f"{len(names)} sets, at most {context.settings.job_sets_max}"
        problems.add(InvalidValue, at, message)
        return []
    numbers: dict[int, None] = {}
    for n, name in enumerate(names):
        number = context.set_by_name.get(name) if isinstance(name, str) else name
        if isinstance(name, str) != context.whole:
            message = (
                "in a whole submission a set is a name such as pca"
                if context.whole
                else "in a bunch a set is a number: 1 of this update, -3 for g3"
            )
            problems.add(WrongType, f"{at}/{n}", message)
        elif number is not None and (number == 0 or abs(number) > GROUP_MAX):
            problems.add(InvalidValue, f"{at}/{n}", "not the number of a set")
        elif number is not None:
            numbers[number] = None
    return list(numbers)


def cut_arrays(
    jobs: Sequence[JobDocument], order: Sequence[int]
) -> tuple[Sequence[JobDocument], Sequence[int]]:
    """Put jobs into an order and cut their arrays over values; return for each job which entry of
    the document it is, or is a part of.

    A part continues the indices of the one before, so all jobs keep their numbers.
    """
    cut: list[JobDocument] = []
    entries: list[int] = []
    for entry in order:
        job = jobs[entry]
        if job.values is None:
            cut.append(job)
        else:
            cut += [
                replace(job, values=part, index_from=job.index_from + start)
                for start, part in cut_values(job.values)
            ]
        entries += [entry] * (len(cut) - len(entries))
    return cut, entries
