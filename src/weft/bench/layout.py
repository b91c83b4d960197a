"""Which groups the jobs of a bench sit in."""

from dataclasses import dataclass, field
from typing import Protocol

from weft.ports.store import NewGroup


@dataclass(frozen=True)
class GroupColumns:
    """The columns of `JobRows` that say where jobs sit."""

    group_id: list[int]
    combo_index: list[int] = field(default_factory=list)
    combo_number: list[int] = field(default_factory=list)
    combo_set: list[int] = field(default_factory=list)


class Layout(Protocol):
    """Groups, and where each job sits."""

    def new_groups(self) -> list[NewGroup]:
        """Return the groups of the batch."""

    def columns(self, first: int, count: int) -> GroupColumns:
        """Return where these consecutive jobs sit."""


@dataclass(frozen=True)
class NestedGroups:
    """All jobs in the deepest of nested tree groups."""

    deep: int = 3
    """Below the root: each job counts in one more."""

    def new_groups(self) -> list[NewGroup]:
        """Return a chain."""
        return [
            NewGroup(group_id=depth, parent_id=depth - 1, name=f"level{depth}")
            for depth in range(1, self.deep + 1)
        ]

    def columns(self, first: int, count: int) -> GroupColumns:  # noqa: ARG002 (all sit in one)
        """Return the deepest."""
        return GroupColumns([self.deep])


@dataclass(frozen=True)
class Sets:
    """Each job in one of the tree groups below the root, and in one of each family of sets.

    `block`: how many consecutive jobs sit in the same groups.
    """

    per_job: int
    """Groups that count a job, besides the root."""
    block: int
    choices: int = 5
    """Groups of the tree, and sets of each family."""

    def new_groups(self) -> list[NewGroup]:
        """Return the tree groups, then the sets."""
        groups = [
            NewGroup(group_id=number, parent_id=0, name=f"stage{number}")
            for number in range(1, self.choices + 1)
        ]
        groups += [
            NewGroup(group_id=number, name=f"set{number}", is_set=True)
            for number in range(self.choices + 1, self.choices * self.per_job + 1)
        ]
        return groups

    def columns(self, first: int, count: int) -> GroupColumns:
        """Return the tree groups and the combinations of sets."""
        trees: list[int] = []
        combos: dict[tuple[int, ...], int] = {}
        indexes: list[int] = []
        for job in range(first, first + count):
            position = job // self.block
            chosen = [
                position // self.choices**family % self.choices for family in range(self.per_job)
            ]
            trees.append(1 + chosen[0])
            sets = tuple(
                1 + family * self.choices + chosen[family] for family in range(1, self.per_job)
            )
            indexes.append(combos.setdefault(sets, len(combos) + 1) if sets else 0)
        pairs = [(number, one) for combo, number in combos.items() for one in combo]
        return GroupColumns(
            trees,
            indexes if self.per_job > 1 else [],
            [number for number, _ in pairs],
            [one for _, one in pairs],
        )
