"""What every adapter of the port `PictureStore` must do: a part of the api's suite."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from store.calls.store_site import StoreTests
from weft.ports.store import (
    Caller,
    NewGroup,
    NewSet,
)
from weft.store import ApiStore
from weft.testing.builders import job_rows


def picture_calls(
    api: ApiStore, caller: Caller, batch: int
) -> Sequence[partial[Any]]:  # what each returns
    """Return the calls of the port that name a batch."""
    one = (caller, batch)
    return [
        partial(api.list_parent_groups, *one, [0]),
        partial(api.list_sets, *one, after="", limit=9),
        partial(api.list_edges, *one, [1], limit=9),
        partial(api.list_children, *one, 1, after=0, limit=9),
        partial(api.list_parents, *one, 1, after=0, limit=9),
        partial(api.list_group_edges, *one, 0, limit=9),
        partial(api.sample_attempts, *one, limit=9),
    ]


class PictureStoreSuite(StoreTests):
    """Tests of the port `PictureStore`."""

    async def test_pictures_show_dependencies_attempts_and_groups(self) -> None:
        """Between jobs and between groups; sets are no part of the tree."""
        api, caller = self.site.api, self.site.caller
        tree = [NewGroup(group_id=1, parent_id=0, name="a")]
        rows = job_rows(3, group=[0, 1, 1], parents={2: [1], 3: [1, 2]})
        batch = await self.site.submit(rows, groups=tree)
        await api.create_set(caller, batch, NewSet(name="s"))
        await self.site.run(1)

        assert await api.list_edges(caller, batch, [2, 3], limit=9) == ([(2, 3)], False)
        children = await api.list_children(caller, batch, 1, after=2, limit=9)
        assert [(one["job_id"], one["state"]) for one in children] == [(3, "pending")]
        parents = await api.list_parents(caller, batch, 3, after=1, limit=9)
        assert [(one["job_id"], one["state"]) for one in parents] == [(2, "ready")]
        assert await api.list_group_edges(caller, batch, 0, limit=9) == (
            [(0, 1, 2), (1, 1, 1)], False,
        )  # fmt: skip
        assert await api.list_parent_groups(caller, batch, [1, 0]) == [0]
        (found,) = await api.list_sets(caller, batch, after="", limit=9)
        assert (found["name"], found["kind"]) == ("s", "set")
        first, *_ = await api.sample_attempts(caller, batch, limit=9)
        assert (first.job_id, first.attempt) == (1, 1)
        assert first.started_at is not None
