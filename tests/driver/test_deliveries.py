"""The loop of callbacks against a store and receivers that a test plays."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from driver.test_loops import SETTINGS, Running, at_rest, running
from weft.callbacks import verify
from weft.core.deliveries.callback_signature import tenant_secret
from weft.core.errors import EpochStale
from weft.driver.adapters import Adapters
from weft.driver.callback_forms import CallbackForm, NoticeForm
from weft.driver.lead import Driver
from weft.driver.loops import deliveries as callbacks
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.deliveries import CallbackLoop, Post
from weft.driver.loops.loop import LoopContext
from weft.ports.senders import Answered, Mail
from weft.ports.sink import SinkMessage
from weft.ports.store import DeliveryReport, DueCallback
from weft.settings import Settings

KEY = "key-of-a-test"
BODY = '{"id": 7}'


def due(delivery_id: int, *, url: str = "http://hook.example/", **facts: int) -> DueCallback:
    """Return a delivery."""
    known = {"tenant_id": 1, "batch_id": 7, "group_id": 0, "n_attempts": 0, **facts}
    return DueCallback(
        delivery_id=delivery_id,
        name=f"name-{delivery_id}",
        url=url,
        body=BODY,
        age_s=0.1,
        sent_at=1_800_000_000,
        **known,  # type: ignore[arg-type]  # facts are numbers
    )


class FakeSender:
    """Answers what a test says; `held` ones wait until it lets them."""

    def __init__(self, *answers: Answered) -> None:
        self.answers = list(answers) or [Answered(status=200)]
        self.sent: list[tuple[str, Mapping[str, str], bytes]] = []
        self.let_go = asyncio.Event()
        self.let_go.set()
        self.changed = asyncio.Condition()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(30), self.changed:
            await self.changed.wait_for(lambda: len(self.sent) >= count)

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answered:
        async with self.changed:
            self.sent.append((url, headers, body))
            self.changed.notify_all()
        await self.let_go.wait()
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def driver(
    sender: FakeSender,
    settings: Settings = SETTINGS,
    forms: Mapping[str, CallbackForm] = MappingProxyType({}),
    post: Post | None = None,
) -> Running:
    """Return a driver that calls back."""
    result = Running(settings)
    result.driver = Driver(
        result.store,
        result.notices,
        settings,
        Adapters(post or Post(sender, KEY, forms)),
        on_state=result.states.append,
    )
    return result


async def test_due_callback_is_sent_signed_and_recorded() -> None:
    sender = FakeSender()
    async with at_rest(driver(sender)) as found:
        found.store.callbacks[1] = due(1, tenant_id=5)
        found.notices.send(payload="callback")
        await found.store.until("record_deliveries", 1)
        ((url, headers, body),) = sender.sent
        told = verify(tenant_secret(KEY, 5), headers, body, now=1_800_000_000)

        assert (url, told.delivery, told.document) == ("http://hook.example/", "name-1", {"id": 7})
        (report,) = found.store.reports
        assert (report.delivered, report.status, report.retry_in_s) == (True, 200, None)


async def test_nothing_is_asked_while_nothing_is_due() -> None:
    async with at_rest(driver(FakeSender())) as found:
        before = found.store.calls.copy()
        await found.settled()
        found.notices.send()  # of something else
        await found.store.until("fold_deltas", before["fold_deltas"] + 1)
        await found.settled()

        assert found.store.calls["due_callbacks"] == before["due_callbacks"]
        assert found.store.calls["next_callback"] == before["next_callback"]


async def test_next_date_wakes_the_loop() -> None:
    found = driver(FakeSender())
    found.store.next_callbacks.append(0.01)
    async with running(found):
        await found.store.until("due_callbacks", 2)


async def test_lost_notice_costs_one_heartbeat() -> None:
    sender = FakeSender()
    async with at_rest(driver(sender, replace(SETTINGS, heartbeat_s=0.05))) as found:
        found.store.callbacks[1] = due(1)
        await sender.until(1)


async def test_callback_of_a_doors_batch_is_sent_in_its_form_and_once() -> None:
    form = CallbackForm(document=lambda found, key: [found["id"], key], once=True)
    sender = FakeSender(Answered(status=500))
    async with at_rest(driver(sender, forms={"lines": form})) as found:
        of_door = msgspec.structs.replace(due(1), door="lines", key="lines t 1")
        of_lost_door = msgspec.structs.replace(due(2), door="lost", key="lost t")
        found.store.callbacks.update({1: of_door, 2: of_lost_door})
        found.notices.send(payload="callback")
        await sender.until(2)
        await found.settled()

        assert sorted(body for _, _, body in sender.sent) == [b'[7,"t 1"]', BODY.encode()]
        retries = {one.delivery_id: one.retry_in_s for one in found.store.reports}
        assert retries[1] is None
        assert retries[2] is not None


async def test_notice_logs_in_and_follows_redirections() -> None:
    """The login is for the host of its URL alone."""
    away = [
        Answered(status=307, location="/b#x"),
        Answered(status=302, location="http://c.example/"),
    ]
    sender = FakeSender(*away, Answered(status=200))
    told = {"name": "s", "policy": {"strategy": "none"}}
    async with at_rest(driver(sender)) as found:
        one = due(1, url="http://me:p%40@h.example/a")
        found.store.callbacks[1] = msgspec.structs.replace(one, subscription=told)
        found.notices.send(payload="callback")
        await sender.until(3)
    urls = ["http://h.example/a", "http://h.example/b", "http://c.example/"]
    assert [url for url, _, _ in sender.sent] == urls
    logins = [headers.get("Authorization") for _, headers, _ in sender.sent]
    assert logins == ["Basic bWU6cEA=", "Basic bWU6cEA=", None]


class FakeMailer:
    """Keeps what is handed in."""

    def __init__(self) -> None:
        self.sent: list[Mail] = []

    async def send(self, mail: Mail) -> Answered:
        """Take it."""
        self.sent.append(mail)
        return Answered(status=250)


async def test_notice_to_a_mailbox_is_mailed_and_needs_a_server() -> None:
    form = NoticeForm(notices=lambda *_: [], headers=lambda *_: {}, mail=lambda _: ("s", "t"))
    mailer, told = FakeMailer(), {"name": "s", "policy": {"strategy": "none"}}
    one = msgspec.structs.replace(due(1, url="mailto:a@b.example"), subscription=told, door="d")
    for server in (mailer, None):
        post = Post(FakeSender(), KEY, notices={"d": form}, mailer=server)
        async with at_rest(driver(FakeSender(), post=post)) as found:
            found.store.callbacks[1] = one
            found.notices.send(payload="callback")
            await found.store.until("record_deliveries", 1)
            (report,) = found.store.reports
            assert report.delivered == (server is mailer)
            assert (report.error is None) == (server is mailer)
    assert mailer.sent == [Mail(to="a@b.example", name=one.name, subject="s", text="t")]


async def test_failure_is_tried_again_after_a_pause_and_given_up_in_the_end() -> None:
    settings = replace(SETTINGS, callback_attempts_max=3)
    sender = FakeSender(Answered(status=500), Answered(error="no answer"), Answered(status=302))
    async with at_rest(driver(sender, settings)) as found:
        for attempt in range(3):
            found.store.callbacks[1] = due(1, n_attempts=attempt)
            found.notices.send(payload="callback")
            await found.store.until("record_deliveries", attempt + 1)
            await found.settled()

        assert [(one.status, one.error) for one in found.store.reports] == [
            (500, None),
            (None, "no answer"),
            (302, None),
        ]
        first, second, last = [one.retry_in_s for one in found.store.reports]
        assert first is not None
        assert second is not None
        assert 1 <= first <= 2 <= second * 1.01 <= 4.1
        assert last is None


class BrokenSinks:
    """Sinks whose library raises what nobody expects."""

    async def send(self, _: Mapping[str, Any], message: SinkMessage) -> Answered:
        raise LookupError(f"unknown encoding: canary, for {message.name}")

    async def close(self) -> None: ...


async def test_sink_that_breaks_holds_up_nobody() -> None:
    """It is a try that failed, whose reason has no text of others."""

    async def make(*_: object) -> str:
        return "{}"

    sender = FakeSender()
    post = Post(sender, KEY, make=make, sinks=BrokenSinks())
    sink: dict[str, Any] = {
        "kind": "sql",
        "checks": {},
        "held": None,
        "message": "",
        "options": {},
        "tenant": "t",
        "tries": 3,
        "rejected_tries": 1,
    }
    async with at_rest(driver(sender, post=post)) as found:
        found.store.callbacks[1] = msgspec.structs.replace(due(1), sink=sink)
        found.store.callbacks[2] = due(2)
        found.notices.send(payload="callback")
        await sender.until(1)
        async with asyncio.timeout(30):
            while len(found.store.reports) < 2:
                await found.settled()
        reports = {one.delivery_id: one for one in found.store.reports}
        assert reports[1].error == "it cannot be sent: LookupError"
        assert reports[1].retry_in_s is not None
        assert reports[2].delivered


async def test_what_is_on_its_way_is_not_sent_twice_and_room_is_used_at_once() -> None:
    settings = replace(SETTINGS, callbacks_max=2)
    sender = FakeSender()
    sender.let_go.clear()
    async with at_rest(driver(sender, settings)) as found:
        for number in range(1, 6):
            found.store.callbacks[number] = due(number, tenant_id=number)
        for _ in range(3):
            found.notices.send(payload="callback")
        await sender.until(2)
        await found.settled()
        on_their_way = len(sender.sent)
        sender.let_go.set()
        await sender.until(5)
        await found.settled()

        assert on_their_way == 2
        assert sorted(one.delivery_id for one in found.store.reports) == [1, 2, 3, 4, 5]
        assert len(sender.sent) == 5


async def test_what_waited_for_long_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have changed meanwhile, as its address has."""
    sender = FakeSender()
    sender.let_go.clear()
    async with at_rest(driver(sender, replace(SETTINGS, callbacks_per_host_max=1))) as found:
        ask = found.store.due_callbacks

        async def asked(*args: Any, **more: Any) -> Any:  # noqa: ANN401
            monkeypatch.setattr(callbacks, "STALE_S", 5.0)
            return await ask(*args, **more)

        found.store.callbacks.update({1: due(1), 2: due(2)})
        found.notices.send(payload="callback")
        await sender.until(1)
        await found.settled()
        found.store.callbacks[2] = due(2, url="http://hook.example/new")
        monkeypatch.setattr(found.store, "due_callbacks", asked)
        monkeypatch.setattr(callbacks, "STALE_S", -1.0)
        sender.let_go.set()
        await sender.until(2)

        assert [url for url, _, _ in sender.sent] == [
            "http://hook.example/",
            "http://hook.example/new",
        ]


async def test_what_ends_while_others_are_recorded_is_recorded_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sender, begun, gate = FakeSender(), asyncio.Event(), asyncio.Event()
    async with at_rest(driver(sender)) as found:
        record, sizes = found.store.record_deliveries, list[int]()

        async def recorded(epoch: int, reports: Sequence[DeliveryReport]) -> None:
            sizes.append(len(reports))
            begun.set()
            await gate.wait()
            await record(epoch, reports)

        monkeypatch.setattr(found.store, "record_deliveries", recorded)
        found.store.callbacks[1] = due(1)
        found.notices.send(payload="callback")
        await begun.wait()
        found.store.callbacks.update({number: due(number) for number in range(2, 31)})
        found.notices.send(payload="callback")
        await sender.until(30)
        await found.settled()
        gate.set()
        await found.store.until("record_deliveries", 2)

        assert sizes == [1, 29]
        assert len(found.store.reports) == 30


async def test_leader_that_dies_while_sending_leaves_it_to_the_next() -> None:
    sender = FakeSender()
    sender.let_go.clear()
    found = driver(sender)
    found.store.callbacks[1] = due(1)
    async with running(found):
        await sender.until(1)
    assert found.store.reports == []

    found.driver = driver(sender).driver
    found.driver._store, found.driver._notices = found.store, found.notices
    sender.let_go.set()
    async with running(found):
        await found.store.until("record_deliveries", 1)

    assert [headers["Weft-Delivery"] for _, headers, _ in sender.sent] == ["name-1", "name-1"]
    assert [one.delivered for one in found.store.reports] == [True]


async def test_leader_that_was_asleep_may_not_record_what_it_sent() -> None:
    sender = FakeSender()
    sender.let_go.clear()
    found = driver(sender)
    found.store.callbacks[1] = due(1)
    await found.store.try_lead()
    context = LoopContext(
        found.store,
        1,
        SETTINGS,
        Bell(),
        DueDate(),
        moved=lambda: None,
        ring=lambda _names: None,
    )
    loop = CallbackLoop(context, Post(sender, KEY))
    task = asyncio.create_task(loop.run())
    await sender.until(1)
    found.store.epoch += 1
    sender.let_go.set()

    with pytest.raises(EpochStale):
        await task


async def test_without_a_key_nobody_is_called_and_the_rest_goes_on() -> None:
    async with at_rest(Running()) as found:
        found.store.callbacks[1] = due(1)
        found.notices.send(payload="callback")
        await found.settled()

        assert found.store.calls["due_callbacks"] == 0
        assert found.states == ["leader"]


async def test_next_date_is_asked_for_before_what_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """What falls due between the two questions would wait for a bell otherwise."""
    found, dates_asked = driver(FakeSender()), []
    ask = found.store.due_callbacks

    async def asked(*args: Any, **more: Any) -> Any:  # noqa: ANN401
        dates_asked.append(found.store.calls["next_callback"])
        return await ask(*args, **more)

    monkeypatch.setattr(found.store, "due_callbacks", asked)
    async with running(found):
        await found.store.until("due_callbacks", 1)

    assert dates_asked[0] == 1
