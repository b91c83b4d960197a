"""Jobs of a bench in sets, and a user's small batch."""

from dataclasses import dataclass, replace

from weft.bench.filled_batch import TRACE_ID, Columns, Filler, NestedGroups
from weft.ports.store import Caller, NewBatch, NewGroup, Origin, Shape


@dataclass(frozen=True)
class Sets(NestedGroups):
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

    def columns(self, first: int, count: int) -> Columns:
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
        return {
            "group_id": trees,
            "combo_index": indexes if self.per_job > 1 else [],
            "combo_number": [number for number, _ in pairs],
            "combo_set": [one for _, one in pairs],
        }


async def fill_small(filler: Filler, caller: Caller, jobs: int, shape: Shape) -> int:
    """Submit a user's batch in one call, without groups; return its number."""
    store, _ = filler.opened
    (bunch,) = filler.bunches(1, jobs, NestedGroups(deep=0))
    new = NewBatch(name="bench")
    batch_id, *_ = await store.submit(
        caller, new, [], replace(bunch, shapes=[shape]), Origin(trace_id=TRACE_ID)
    )
    return batch_id
