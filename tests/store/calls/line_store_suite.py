"""What every adapter of the port `LineStore` must do: a part of the api's suite."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from store.calls.store_site import StoreTests
from weft.core.errors import (
    InvalidStatusTransition,
    MessageDelivered,
    MessageNotHeld,
    ParameterNotFound,
    ParameterOfOtherType,
    SetupNotFound,
    SinkNotFound,
)
from weft.core.lines.setup import parse_setup
from weft.ports.store import DeliveryReport

LIFECYCLE = """
[lifecycle.NAME]
statuses = ["new", "over"]
first = ["new"]
next = { new = ["over"], over = [] }
core = { new = "ready", over = "success" }
"""

SINK = """
[sink.NAME]
kind = "http"
url = "https://receiver.example/hook"
message = "1"
"""


class LineStoreSuite(StoreTests):
    """Tests of the port `LineStore`."""

    async def test_setup_is_what_was_saved_until_it_is_removed(self) -> None:
        """A repeat changes nothing; a job has the first status, and then the next one."""
        api, caller, name = self.site.api, self.site.caller, f"l{uuid4().hex}"
        text = LIFECYCLE.replace("NAME", name)
        found = parse_setup(text)
        assert list(await api.save_setup(caller, name, text, found)) == [name]
        assert list(await api.save_setup(caller, name, text, found)) == []
        assert (await api.get_setup(caller, name))["document"] == text
        assert (await api.get_lifecycle(caller, name))["next"] == {"new": ["over"], "over": []}
        batch = await self.site.submit(lifecycle=name)
        await api.remove_setup(caller, name)
        with pytest.raises(SetupNotFound):
            await api.get_setup(caller, name)
        after = await api.change_status(caller, batch, 1, status="over", message=None)
        assert (after["status"], after["state"]) == ("over", "ready")
        with pytest.raises(InvalidStatusTransition, match="allows nothing"):
            await api.change_status(caller, batch, 1, status="new", message=None)

    async def test_message_of_an_ended_job_is_sent_until_it_is_delivered(self) -> None:
        """One that was given up is due when somebody asks."""
        api, caller, name = self.site.api, self.site.caller, f"l{uuid4().hex}"
        text = SINK.replace("NAME", name)
        assert list(await api.save_setup(caller, name, text, parse_setup(text))) == [
            f"sink {name}"
        ]
        await self.site.submit(sink=name)
        await self.site.run()
        (row,) = await api.list_messages(caller, name, after=0, limit=9)
        assert (row["state"], row["n_attempts"]) == ("pending", 0)
        assert list(await api.list_messages(caller, name, after=row["delivery_id"], limit=9)) == []
        for delivered, state in ((False, "failed"), (True, "delivered")):
            report = DeliveryReport(
                delivery_id=row["delivery_id"], delivered=delivered, status=1, error=None,
                retry_in_s=None,
            )  # fmt: skip
            await self.site.driver.record_deliveries(await self.site.lead(), [report])
            (found,) = await api.list_messages(caller, name, after=0, limit=9)
            assert found["state"] == state
            sinks = {
                one["sink"]: one for one in (await api.line_overview(caller, limit=999))["sinks"]
            }
            assert sinks[name]["n_failed"] == (not delivered)
            if not delivered:
                again = await api.redeliver_message(caller, name, row["delivery_id"])
                assert again["state"] == "pending"
        with pytest.raises(MessageDelivered):
            await api.redeliver_message(caller, name, row["delivery_id"])
        with pytest.raises(SinkNotFound):
            await api.list_messages(caller, "gone", after=0, limit=9)

    async def test_message_that_a_check_stops_waits_for_a_decision(self) -> None:
        """It is due again when somebody lets it pass or drops it, once."""
        api, caller, name = self.site.api, self.site.caller, f"l{uuid4().hex}"
        text = SINK.replace("NAME", name)
        await api.save_setup(caller, name, text, parse_setup(text))
        for dropped in (False, True):
            batch = await self.site.submit(sink=name)
            await self.site.run()
            rows = await api.list_messages(caller, name, after=0, limit=9)
            number = next(one["delivery_id"] for one in rows if one["batch_id"] == batch)
            with pytest.raises(MessageNotHeld):
                await api.decide_message(caller, name, number, dropped=dropped)
            report = DeliveryReport(
                delivery_id=number, delivered=False, status=3, error="check a: bad",
                retry_in_s=None, held=True,
            )  # fmt: skip
            await self.site.driver.record_deliveries(await self.site.lead(), [report])
            why = await api.why_job(caller, batch, 1)
            assert [dict(one) for one in why.stopped] == [
                {"sink": name, "delivery_id": number, "error": "check a: bad"}
            ]
            (found,) = await api.list_messages(caller, name, after=number - 1, limit=9)
            assert found["state"] == "held"
            told = await api.decide_message(caller, name, number, dropped=dropped)
            assert told["state"] == ("dropped" if dropped else "pending")
            assert (await api.why_job(caller, batch, 1)).stopped == ()
            with pytest.raises(MessageNotHeld):
                await api.decide_message(caller, name, number, dropped=True)

    async def test_parameter_has_all_its_versions(self) -> None:
        """One type for ever; the same value again is no version; a file sets what it changes."""
        api, caller, name = self.site.api, self.site.caller, f"p{uuid4().hex}"
        first = await api.set_parameter(caller, name, 7, None)
        assert (first["version"], first["type"], first["setup"]) == (1, "integer", None)
        between = datetime.now(UTC)
        assert (await api.set_parameter(caller, name, 7, None))["version"] == 1
        for wrong in (7.5, "7", True, [7]):
            with pytest.raises(ParameterOfOtherType):
                await api.set_parameter(caller, name, wrong, None)
        for n, expected in ((8, 2), (8, 2), (9, 3)):
            text = f"[parameters]\n{name} = {n}\n"
            await api.save_setup(caller, name, text, parse_setup(text))
            (row,) = await api.list_versions(caller, name, before=None, limit=1)
            assert (row["version"], row["value"], row["setup"]) == (expected, n, name)
        await api.set_parameter(caller, name, 10, None)
        last = f"[parameters]\n{name} = 9\n"
        assert list(await api.save_setup(caller, name, last, parse_setup(last))) == []
        rows = await api.list_versions(caller, name, before=None, limit=9)
        assert [row["version"] for row in rows] == [4, 3, 2, 1]
        assert [row["value"] for row in rows] == [10, 9, 8, 7]
        older = await api.list_versions(caller, name, before=3, limit=1)
        assert [row["version"] for row in older] == [2]
        for as_of, value in ((None, 10), (between, 7), (datetime(2020, 1, 1, tzinfo=UTC), None)):
            found = await api.list_parameters(caller, names=[name], as_of=as_of, after="", limit=9)
            assert [row["value"] for row in found] == ([] if value is None else [value])
        with pytest.raises(ParameterNotFound):
            await api.list_versions(caller, "gone", before=None, limit=1)

    async def test_dates_are_dates(self) -> None:
        """In its first value, and in all that follow."""
        api, caller, name = self.site.api, self.site.caller, f"p{uuid4().hex}"
        await api.set_parameter(caller, name, "2020-05-01", "date")
        await api.set_parameter(caller, name, "2020-05-01T10:00:00Z", None)
        for wrong in ("2020-13-01", "soon", "2020-05-01 10:00", 2020):
            with pytest.raises(ParameterOfOtherType):
                await api.set_parameter(caller, name, wrong, None)
