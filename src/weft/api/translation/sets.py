"""Which sets jobs are in, as columns: jobs with the same sets share a combination."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from weft.core.errors import InvalidValue, WrongType
from weft.core.problems import Problems
from weft.settings import Settings
from weft.wire.documents import JobDocument

GROUP_MAX = 2_000_000_000


class SetNames(Protocol):
    """What has to be known of a request: sets are named if it is `whole`, else numbered."""

    @property
    def settings(self) -> Settings:
        """How many sets a job may be in."""

    @property
    def whole(self) -> bool:
        """Whether sets have names."""

    @property
    def set_by_name(self) -> Mapping[str, int]:
        """Their numbers."""


@dataclass
class Combos:
    """The columns `combo_…` of `JobRows`."""

    index: list[int] = field(default_factory=list)
    number: list[int] = field(default_factory=list)
    sets: list[int] = field(default_factory=list)


def sets_of(jobs: Sequence[JobDocument], request: SetNames, problems: Problems) -> Combos:
    """Return the combinations of sets and which of them each job is in."""
    combos = Combos()
    if not any(job.groups for job in jobs):
        return combos
    known: dict[tuple[int | str, ...], int] = {(): 0}
    for index, job in enumerate(jobs):
        number = known.get(job.groups)
        if number is None:
            number = known[job.groups] = len(known)
            sets = _numbers(job.groups, f"/jobs/{index}/groups", request, problems)
            combos.number += [number] * len(sets)
            combos.sets += sets
        combos.index.append(number)
    if combos.index.count(combos.index[0]) == len(combos.index):
        del combos.index[1:]
    return combos


def _numbers(
    names: Sequence[int | str], at: str, request: SetNames, problems: Problems
) -> list[int]:
    if len(names) > request.settings.job_sets_max:
        message = f"{len(names)} sets, at most {request.settings.job_sets_max}"
        problems.add(InvalidValue, at, message)
        return []
    numbers: dict[int, None] = {}
    for place, name in enumerate(names):
        number = request.set_by_name.get(name) if isinstance(name, str) else name
        if isinstance(name, str) != request.whole:
            message = (
                "in a document that is submitted at once a set is a name such as pca"
                if request.whole
                else "in a bunch a set is a number: of the update, -3 an earlier g3"
            )
            problems.add(WrongType, f"{at}/{place}", message)
        elif number is not None and (number == 0 or abs(number) > GROUP_MAX):
            problems.add(InvalidValue, f"{at}/{place}", "not the number of a set")
        elif number is not None:
            numbers[number] = None
    return list(numbers)
