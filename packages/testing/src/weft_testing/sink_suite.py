"""What every sink of production lines must do: a suite that an author of one subclasses."""

import asyncio
from collections.abc import Mapping
from typing import Any

from weft.ports.sink import Sink, SinkMessage

BODY = b'{"id": 1}'


class SinkSuite:
    """Tests of the port `sink` against a receiver of the author's."""

    kind = ""
    """Of the sink."""

    def sink(self) -> Sink:
        """Return a sink that reaches the receiver."""
        raise NotImplementedError

    def target(self) -> Mapping[str, str]:
        """Return options that lead there."""
        raise NotImplementedError

    def wrong_targets(self) -> Mapping[str, Mapping[str, str]]:
        """Return options that lead nowhere, or where nobody may send, by a part of why."""
        raise NotImplementedError

    async def arrived(self) -> list[tuple[str | None, bytes]]:
        """Return what has come since the last look: the names of deliveries, if the receiver is
        told them, and the messages. Objects of one name are one.
        """
        raise NotImplementedError

    def message(self, target: Mapping[str, str], name: str = "d7") -> SinkMessage:
        """Return a message."""
        return SinkMessage(1, "default", name, BODY, target)

    def document(self) -> Mapping[str, Any]:
        """Return the sink as it is stored."""
        return {"kind": self.kind, "options": dict(self.target())}

    async def test_message_arrives_and_may_come_twice(self) -> None:
        """Unchanged, under the same name each time."""
        sink = self.sink()
        try:
            for _ in range(2):
                answered = await sink.send(self.document(), self.message(self.target()))
                assert answered.error is None
                assert answered.delivered
        finally:
            await sink.close()
        found = await self.arrived()
        assert found
        assert {body for _, body in found} == {BODY}
        assert {name for name, _ in found} <= {"d7", None}

    async def test_whatever_is_wrong_is_an_answer(self) -> None:
        """And harms no other message: these are sent beside a good one, which arrives."""
        sink = self.sink()
        wrong = self.wrong_targets()
        assert wrong
        try:
            answers = await asyncio.gather(
                *(sink.send(self.document(), self.message(one)) for one in wrong.values()),
                sink.send(self.document(), self.message(self.target())),
            )
        finally:
            await sink.close()
        *failed, good = answers
        assert good.delivered
        for why, answered in zip(wrong, failed, strict=True):
            assert not answered.delivered
            assert why in str(answered.error)
        assert len(await self.arrived()) == 1
