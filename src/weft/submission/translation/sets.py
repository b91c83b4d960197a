"""Which sets jobs are in, as columns: jobs with the same sets share a combination."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.core.errors import InvalidValue, WrongType
from weft.core.problems import Problems
from weft.submission.translation.context import DocumentContext
from weft.wire.documents.batches import JobDocument

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
