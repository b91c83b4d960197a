"""What every adapter of the port `SourceStore` must do, and of the driver's side of it: a part of
the suites of api and driver.
"""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import uuid4

from store.calls.store_site import StoreTests, refused
from weft.core.errors import SourceNotFound
from weft.core.lines.configuration import Standing
from weft.core.lines.series import SeriesRule
from weft.core.lines.setup import parse_setup
from weft.ports.store.file_stores import NewFileStore
from weft.ports.store.sources import Decision, DueSource, TakenSource
from weft.store import DriverStore

SOURCE = """
[source.NAME]
kind = "directory"
path = "/data/in"
job = "one"

[job.one]
command = ["true"]
"""
MANY = 1000
HALF = 2


def source_calls(driver: DriverStore, epoch: int) -> Sequence[Callable[[], Awaitable[object]]]:
    """Return the calls about sources that carry the epoch."""
    due = DueSource(0, "none", "directory", {}, 1.0, 1, None, 0)
    return [
        partial(driver.due_sources, epoch, (), limit=1),
        partial(driver.sources_due, epoch, (), limit=1),
        partial(driver.store_items, epoch, due, (), cursor=None, next_in_s=1.0, error=None),
    ]


class SourceReadingSuite(StoreTests):
    """Tests of the port `SourceReadings`."""

    async def source(self) -> str:
        """Save a setup with one source; return its name."""
        name = f"s{uuid4().hex}"
        text = SOURCE.replace("NAME", name)
        api, caller = self.site.api, self.site.caller
        assert f"source {name}" in await api.save_setup(caller, name, text, parse_setup(text))
        return name

    async def due_source(self, name: str) -> DueSource | None:
        """Return what the driver is told of a source; None: it is not due."""
        epoch = await self.site.lead()
        due = await self.site.driver.due_sources(epoch, (), limit=MANY)
        return next((one for one in due if one.name == name), None)

    async def keep_items(
        self, due: DueSource, found: Sequence[Mapping[str, Any]], error: str | None = None
    ) -> int | None:
        """Let the driver keep what a reading has found."""
        return await self.site.driver.store_items(
            await self.site.lead(), due, found, cursor={"at": 1}, next_in_s=3600, error=error
        )

    async def taken_source(self, name: str, *, lease_s: float = 3600) -> TakenSource | None:
        """Take sources until it is this one."""
        while taken := await self.site.api.take_source(limit=MANY, lease_s=lease_s):
            if taken.name == name:
                return taken
            await self.site.api.postpone_items(taken, None, 3600.0)
        return None

    async def item_states(self, name: str) -> dict[str, tuple[str, str | None]]:
        """Return state and job or reason of each item."""
        rows = await self.site.api.list_source_items(
            self.site.caller, name, before=None, state=None, limit=MANY
        )
        return {row["key"]: (row["state"], row["job"] or row["reason"]) for row in rows}

    async def test_one_tenant_has_half_of_the_readings(self) -> None:
        """However many of its sources are due; then it does not count when they are."""
        for _ in range(5):
            await self.source()
        driver, epoch = self.site.driver, await self.site.lead()
        own = self.site.caller.tenant_id
        due = [
            one
            for one in await driver.due_sources(epoch, (), limit=2 * HALF)
            if one.tenant_id == own
        ]
        assert len(due) == HALF
        busy = [one.source_id for one in due]
        again = await driver.due_sources(epoch, busy, limit=2 * HALF)
        assert own not in {one.tenant_id for one in again}
        assert await driver.sources_due(epoch, busy[:1], limit=2 * HALF) is not None
        assert await driver.sources_due(epoch, busy, limit=HALF) is None

    async def test_sink_finds_stores_of_its_tenant(self) -> None:
        """By name, for the driver, which writes messages there."""
        name, caller = f"s{uuid4().hex}", self.site.caller
        new = NewFileStore(
            name=name, url="s3://bucket", endpoint=None, region=None, access="write",
            credentials="env", secret=None,
        )  # fmt: skip
        assert await self.site.api.save_store(caller, new, stores_max=MANY) is not None
        found = await self.site.driver.find_sink_store(caller.tenant_id, name)
        assert found is not None
        assert (found.url, found.access, found.body) == ("s3://bucket", "write", None)
        assert await self.site.driver.find_sink_store(caller.tenant_id, f"{name}x") is None
        other = self.site.stranger.tenant_id
        if other != caller.tenant_id:
            assert await self.site.driver.find_sink_store(other, name) is None

    async def test_source_of_objects_comes_with_its_store(self) -> None:
        """As it is stored, with its secret, encrypted; null, if there is no such store."""
        api, caller, name = self.site.api, self.site.caller, await self.source()
        text = SOURCE.replace("NAME", name).replace('kind = "directory"', 'kind = "s3"')
        text = text.replace('path = "/data/in"', f'store = "{name}"')
        await api.save_setup(caller, name, text, parse_setup(text))
        without = await self.due_source(name)
        await api.set_secret(caller, name, bytes(37), secrets_max=MANY)
        new = NewFileStore(
            name=name, url="s3://bucket/lab", endpoint=None, region=None, access="read",
            credentials="secret", secret=name,
        )  # fmt: skip
        await api.save_store(caller, new, stores_max=MANY)
        due, tried = await self.due_source(name), await api.try_source(caller, name, [])
        assert without is not None
        assert due is not None
        assert without.sealed == {"store": None}
        body = b64encode(bytes(37)).decode()
        assert due.sealed == tried["sealed"] == {
            "store": ["s3://bucket/lab", None, None, "read", "secret", name, caller.tenant_id,
                      caller.user_id, body],
        }  # fmt: skip

    async def test_source_of_a_broker_comes_with_its_tenant(self) -> None:
        """For which the operator has named connections."""
        api, caller, name = self.site.api, self.site.caller, await self.source()
        text = SOURCE.replace("NAME", name).replace('kind = "directory"', 'kind = "amqp"')
        text = text.replace('path = "/data/in"', 'transport = "t"\nqueue = "q"')
        await api.save_setup(caller, name, text, parse_setup(text))
        due, tried = await self.due_source(name), await api.try_source(caller, name, [])
        assert due is not None
        assert due.sealed == tried["sealed"]
        assert due.sealed is not None
        assert isinstance(due.sealed["tenant"], str)

    async def test_source_comes_with_the_secrets_that_it_names(self) -> None:
        """Those of its owner, encrypted; one that names none comes without."""
        api, caller, name = self.site.api, self.site.caller, await self.source()
        plain = await self.due_source(name)
        text = SOURCE.replace("NAME", name).replace('kind = "directory"', 'kind = "own"')
        text = text.replace("/data/in", "${secret.known} ${secret.unknown}")
        await api.set_secret(caller, "known", bytes(37), secrets_max=MANY)
        await api.save_setup(caller, name, text, parse_setup(text))
        due, tried = await self.due_source(name), await api.try_source(caller, name, [])
        assert plain is not None
        assert due is not None
        assert plain.sealed is None
        assert due.sealed == tried["sealed"] == {
            "tenant_id": caller.tenant_id, "user_id": caller.user_id,
            "bodies": {"known": b64encode(bytes(37)).decode()},
        }  # fmt: skip

    async def test_source_is_tried_without_a_trace(self) -> None:
        """What reads it is told, with the states of the keys that it knows."""
        name = await self.source()
        api, caller = self.site.api, self.site.caller
        due = await self.due_source(name)
        assert due is not None
        await self.keep_items(due, [{"key": "a", "fields": {}}])
        tried = await api.try_source(caller, name, ["a", "b"])
        assert (tried["kind"], tried["cursor"], tried["known"]) == (
            "directory", {"at": 1}, {"a": "new"},
        )  # fmt: skip
        assert (tried["options"], tried["owner"]["name"]) == (due.options, caller.user_name)
        with refused(SourceNotFound):
            await api.try_source(caller, f"{name}x", [])

    async def test_sources_are_read_and_their_items_kept_once(self) -> None:
        """With the cursor; what cannot be read has a reason, and is new again when it can."""
        name = await self.source()
        due = await self.due_source(name)
        assert due is not None
        assert (due.kind, due.options, due.cursor) == ("directory", {"path": "/data/in"}, None)
        found: list[dict[str, Any]] = [
            {"key": "a", "fields": {"x": 1}},
            {"key": "b", "fields": None, "error": "bad"},
        ]
        assert await self.keep_items(due, found) == len(found)
        assert await self.due_source(name) is None
        due_s = await self.site.driver.sources_due(await self.site.lead(), (), limit=MANY)
        assert due_s is not None
        assert await self.keep_items(due, found) == 0
        assert await self.item_states(name) == {"a": ("new", None), "b": ("refused", "bad")}
        assert await self.keep_items(due, [{"key": "b", "fields": {}}]) == 1
        assert (await self.item_states(name))["b"] == ("new", None)
        assert await self.keep_items(due, (), "gone") == 0
        shown = await self.site.api.get_source(self.site.caller, name)
        assert (shown["state"], shown["error"], shown["n_failures"]) == ("failing", "gone", 1)
        assert shown["n_items"] == {"new": 2}


class SourceStoreSuite(SourceReadingSuite):
    """Tests of the port `SourceStore`."""

    async def test_items_become_jobs_as_decided(self) -> None:
        """A taken source is nobody else's; a set that was not ended comes again as it was."""
        api, name = self.site.api, await self.source()
        due = await self.due_source(name)
        assert due is not None
        await self.keep_items(due, [{"key": key, "fields": {}} for key in "abcd"])
        wait_s = await api.next_source_work()
        assert wait_s is not None
        assert wait_s <= 0
        taken = await self.taken_source(name)
        assert taken is not None
        assert [one.key for one in taken.items] == [*"abcd"]
        assert taken.owner.user_id == self.site.caller.user_id
        assert await self.taken_source(name) is None
        a, b, c, d = [one.n for one in taken.items]
        decisions = [
            Decision(a, "ready", document={"command": ["true"]}),
            Decision(b, "waiting", reason="later", due_in_s=3600),
            Decision(c, "cancelled", reason="too old"),
            Decision(d, "refused", reason="bad"),
        ]
        target = await api.decide_items(taken, decisions)
        assert target is not None
        assert target.batch_id is None
        await api.postpone_items(taken, "away", -1.0)
        again = await self.taken_source(name)
        assert again is not None
        assert [(one.key, one.document) for one in again.items] == [("a", {"command": ["true"]})]
        assert again.bunch == target.bunch
        await api.end_items(taken, 1, [7])  # of the earlier taking: void
        batch = await self.site.submit()
        await api.end_items(again, batch, [1])
        assert await self.item_states(name) == {
            "a": ("job", f"b{batch}.j1"), "b": ("waiting", "later"),
            "c": ("cancelled", "too old"), "d": ("refused", "bad"),
        }  # fmt: skip
        assert await self.taken_source(name) is None

    async def test_source_with_a_backlog_lets_others_go_first(self) -> None:
        """What is left of its items waits behind what others have had waiting for less long."""
        api, names = self.site.api, [await self.source(), await self.source()]
        for name, keys in zip(names, ("abc", "d"), strict=True):
            due = await self.due_source(name)
            assert due is not None
            await self.keep_items(due, [{"key": key, "fields": {}} for key in keys])
        found: list[str] = []
        while taken := await api.take_source(limit=1, lease_s=3600):
            found += [taken.name] if taken.name in names else []
            one = Decision(taken.items[0].n, "cancelled", reason="old") if taken.items else None
            await api.decide_items(taken, [one] if one else [])
            await api.end_items(taken, None, ())
        assert found == [names[0], names[1], names[0], names[0]]

    async def test_item_waits_for_the_one_before_it_in_its_series(self) -> None:
        """Until that one's job has ended well; nothing is known while an item stands nowhere."""
        api, name = self.site.api, await self.source()
        due = await self.due_source(name)
        assert due is not None
        await self.keep_items(due, [{"key": key, "fields": {"x": key}} for key in "ba"])
        taken = await self.taken_source(name)
        assert taken is not None
        later, first = [one.n for one in taken.items]
        rule = SeriesRule(skip=(), until=None, within_s=None)
        assert await api.order_items(taken, {later: ("T", Decimal(2))}, rule) is None
        stands = {later: ("T", Decimal(2)), first: ("T", Decimal("1.5"))}
        found = await api.order_items(taken, stands, rule)
        assert found == {
            first: Standing("T", None, None),
            later: Standing("T", "it waits for a of series T", None),
        }
        near = replace(rule, within_s=0.1)
        assert (await api.order_items(taken, stands, near) or {})[later].waits is None
        ready = Decision(first, "ready", document={"command": ["true"]})
        wait = Decision(later, "waiting", reason="a", due_in_s=0.0)
        await api.decide_items(taken, [ready, wait])
        batch = await self.site.submit()
        await api.end_items(taken, batch, [1])
        for ended in (False, True):
            again = await self.taken_source(name)
            assert again is not None
            one = {later: stands[later]}
            found = await api.order_items(again, one, rule)
            assert found is not None
            if ended:
                assert found[later].waits is None
                assert (found[later].previous or {})["x"] == "a"
            else:
                assert found[later].waits == f"it waits for b{batch}.j1 of series T"
                await api.decide_items(again, [wait])
                await api.end_items(again, None, [])
                await self.site.run()

    async def test_items_after_a_late_one_run_again(self) -> None:
        """Those that had been decided; without a rule it is marked. So do those of which somebody
        says so.
        """
        api, caller, name = self.site.api, self.site.caller, await self.source()
        due = await self.due_source(name)
        assert due is not None
        rule = SeriesRule(skip=(), until=None, within_s=None)
        batch = await self.site.submit()
        await self.site.run()

        async def decide(key: str, at: int, *, reruns: bool) -> tuple[int, int]:
            await self.keep_items(due, [{"key": key, "fields": {}}])
            taken = await self.taken_source(name)
            assert taken is not None
            n = next(one.n for one in taken.items if one.key == key)
            others = {one.n: ("T", Decimal(9)) for one in taken.items}
            await api.order_items(taken, {**others, n: ("T", Decimal(at))}, rule)
            ready = [Decision(n, "ready", document={"command": ["true"]})]
            target = await api.decide_items(taken, ready, reruns=reruns)
            assert target is not None
            await api.end_items(taken, batch, [1])
            return target.n_late, target.n_again

        assert await decide("c", 9, reruns=True) == (0, 0)
        assert await decide("b", 8, reruns=False) == (1, 0)
        rows = await api.list_source_items(caller, name, before=None, state=None, limit=MANY)
        assert {row["key"]: row["late"] for row in rows} == {"c": False, "b": True}
        assert await decide("a", 7, reruns=True) == (1, 2)
        assert {key: state for key, (state, _) in (await self.item_states(name)).items()} == {
            "a": "job", "b": "new", "c": "new"
        }  # fmt: skip
        since = Decimal(7)
        assert await api.rerun_series(caller, name, series="T", since=since) == 1
        assert await api.rerun_series(caller, name, series="other", since=since) == 0
        with refused(SourceNotFound):
            await api.rerun_series(self.site.stranger, name, series="T", since=since)

    async def test_source_is_paused_replayed_and_removed(self) -> None:
        """A reading that was under way is void then; items are remembered."""
        api, caller, name = self.site.api, self.site.caller, await self.source()
        due = await self.due_source(name)
        assert due is not None
        await self.keep_items(due, [{"key": "a", "fields": {}}])
        taken = await self.taken_source(name)
        assert taken is not None
        await api.decide_items(taken, [Decision(taken.items[0].n, "cancelled", reason="old")])
        await api.end_items(taken, None, ())
        await api.change_source(caller, name, paused=True, replay_since=None)
        assert await self.due_source(name) is None
        assert await self.keep_items(due, [{"key": "b", "fields": {}}]) is None
        await api.change_source(
            caller, name, paused=False, replay_since=datetime(2020, 1, 1, tzinfo=UTC)
        )
        assert (await self.item_states(name)) == {"a": ("new", None)}
        again = await self.due_source(name)
        assert again is not None
        assert again.cursor is None
        assert name in [one["source"] for one in await api.list_sources(
            caller, after="", limit=MANY)]  # fmt: skip
        with refused(SourceNotFound):
            await api.get_source(self.site.stranger, name)
        await api.remove_setup(caller, name)
        assert await self.due_source(name) is None
        assert await self.taken_source(name) is None
        with refused(SourceNotFound):
            await api.get_source(caller, name)
