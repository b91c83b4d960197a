"""What every event sink must do: a suite that an author of one subclasses."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

import pytest

from weft.ports.topics import EventSink, Record
from weft.ports.transport import Connection, TransportError

N_RECORDS = 200
_PASSWORD = "of-a-test"  # noqa: S105 (it opens nothing)


class EventSinkSuite:
    """Tests of the port `event_sink` against a broker of the author's."""

    def connection(self) -> Connection:
        """Return the connection to a broker that answers."""
        raise NotImplementedError

    def sink(self, connection: Connection) -> EventSink:
        """Return a sink, not connected yet."""
        raise NotImplementedError

    def unreachable(self) -> str:
        """Return the address of a broker that is not there."""
        raise NotImplementedError

    async def listen(self, topic: str) -> None:
        """Let somebody ask for all that comes by a topic from now on, which may not be there."""
        raise NotImplementedError

    async def heard(self, topic: str, n_records: int) -> Sequence[Record]:
        """Return the first records that have come since `listen`, in order."""
        raise NotImplementedError

    async def test_records_arrive_as_they_were_written(self) -> None:
        """With their bytes, headers and key, also Unicode; a topic is made once."""
        topic, sink = a_topic(), self.sink(self.connection())
        records = [
            a_record(topic, 1, key="b1", value='{"name": "Ä"}'.encode()),
            a_record(topic, 2, key="b2", value=b""),
        ]
        try:
            await sink.make({topic: 1})
            await sink.make({topic: 1})
            await self.listen(topic)
            assert list(await sink.publish(records)) == [True, True]
            heard = await self.heard(topic, 2)
        finally:
            await sink.close()

        assert sorted((one.value, one.headers["id"], one.key) for one in heard) == sorted(
            (record.value, record.headers["id"], record.key) for record in records
        )

    async def test_records_of_one_key_stay_in_order(self) -> None:
        """Whether they are written by one call or by many."""
        topic, sink = a_topic(), self.sink(self.connection())
        records = [a_record(topic, n, key=f"b{n % 3}") for n in range(N_RECORDS)]
        half = N_RECORDS // 2
        try:
            await sink.make({topic: 3})
            await self.listen(topic)
            assert all(await sink.publish(records[:half]))
            for record in records[half:]:
                assert all(await sink.publish([record]))
            heard = await self.heard(topic, N_RECORDS)
        finally:
            await sink.close()

        for key in {record.key for record in records}:
            assert [one.headers["id"] for one in heard if one.key == key] == [
                record.headers["id"] for record in records if record.key == key
            ]

    async def test_nothing_is_written_by_an_empty_call(self) -> None:
        """It does not fail either."""
        sink = self.sink(self.connection())
        try:
            assert list(await sink.publish([])) == []
        finally:
            await sink.close()

    async def test_a_broker_that_is_away_is_said_to_be(self) -> None:
        """By each call, without the password."""
        to = replace(self.connection(), address=self.unreachable(), password=_PASSWORD)
        sink, topic = self.sink(to), a_topic()
        try:
            with pytest.raises(TransportError) as making:
                await sink.make({topic: 1})
            with pytest.raises(TransportError) as writing:
                await sink.publish([a_record(topic, 1)])
        finally:
            await sink.close()

        assert str(making.value)
        assert _PASSWORD not in f"{making.value} {writing.value}"

    async def test_one_that_was_closed_connects_again(self) -> None:
        """Closing twice does no harm."""
        topic, sink = a_topic(), self.sink(self.connection())
        try:
            await sink.make({topic: 1})
            await self.listen(topic)
            assert all(await sink.publish([a_record(topic, 1)]))
            await sink.close()
            assert all(await sink.publish([a_record(topic, 2)]))
            heard = await self.heard(topic, 2)
        finally:
            await sink.close()
            await sink.close()

        assert [one.headers["id"] for one in heard] == ["0-1", "0-2"]


def a_topic() -> str:
    """Return the name of a topic that there is not yet."""
    return f"weft.suite-{uuid4()}.events"


def a_record(topic: str, number: int, *, key: str = "b1", value: bytes = b"{}") -> Record:
    """Return a record as events are written."""
    return Record(topic, key, value, {"id": f"0-{number}", "kind": "suite.event"})
