"""What every transport must do: a suite that an author of one subclasses."""

import asyncio
from collections.abc import AsyncIterator
from typing import ClassVar
from uuid import uuid4

from weft.ports.transport import DEAD, REFUSED, Death, Delivery, Route, Transport

_WITHIN_S = 30.0


class TransportSuite:
    """Tests of the port `transport`."""

    is_partitioned: ClassVar[bool] = False
    """Whether the messages of a route come in order only within partitions of it."""

    def transport(self) -> Transport:
        """Return a transport, not connected yet."""
        raise NotImplementedError

    async def test_messages_come_in_order_and_once_acknowledged_never_again(self) -> None:
        """A message that was not acknowledged comes again, others do not."""
        route, transport = a_route(), self.transport()
        bodies = [f"{n:02}".encode() for n in range(20)]
        try:
            assert all(await transport.publish([(route, body) for body in bodies]))
            async with transport.consume(route, limit=20) as deliveries:
                come = [await following(deliveries) for _ in bodies]
                for delivery in come[:-1]:
                    await delivery.acknowledge()
            async with transport.consume(route, limit=20) as deliveries:
                again = await following(deliveries)
        finally:
            await transport.close()

        bodies_come = [delivery.body for delivery in come]
        assert (sorted(bodies_come) if self.is_partitioned else bodies_come) == bodies
        assert again.body == bodies_come[-1]

    async def test_no_more_come_than_are_wanted_at_a_time(self) -> None:
        """What one consumer does not want yet is another's."""
        route, transport = a_route(), self.transport()
        try:
            await transport.publish([(route, b"1"), (route, b"2")])
            async with (
                transport.consume(route, limit=1) as first,
                transport.consume(route, limit=1) as second,
            ):
                delivery, other = await following(first), await following(second)
                while self.is_partitioned and other.body == delivery.body:
                    await other.acknowledge()  # its partition has become the second one's
                    other = await following(second)
        finally:
            await transport.close()

        assert {delivery.body, other.body} == {b"1", b"2"}

    async def test_more_come_when_more_are_allowed(self) -> None:
        """What had come stays with the consumer."""
        route, transport = a_route(), self.transport()
        try:
            await transport.publish([(route, b"1"), (route, b"2"), (route, b"3")])
            async with transport.consume(route, limit=1) as deliveries:
                come = [await following(deliveries)]
                await deliveries.allow(3)
                come += [await following(deliveries) for _ in range(2)]
                for delivery in come:
                    await delivery.acknowledge()
                await deliveries.allow(1)
                await transport.publish([(route, b"4")])
                come.append(await following(deliveries))
        finally:
            await transport.close()

        assert sorted(delivery.body for delivery in come) == [b"1", b"2", b"3", b"4"]

    async def test_what_is_given_back_comes_to_somebody(self) -> None:
        """Here to the only one there is."""
        route, transport = a_route(), self.transport()
        try:
            await transport.publish([(route, b"1")])
            async with transport.consume(route, limit=1) as deliveries:
                await (await following(deliveries)).give_back()
                again = await following(deliveries)
        finally:
            await transport.close()

        assert again.body == b"1"

    async def test_what_is_refused_comes_to_the_dead_of_its_tenant(self) -> None:
        """With why, and not to its queue again."""
        route, transport = a_route(), self.transport()
        try:
            await transport.publish([(route, b"1"), (route, b"2")])
            async with transport.consume(route, limit=1) as deliveries:
                first = await following(deliveries)
                await first.refuse("it is wrong")
                second = await following(deliveries)
            async with transport.consume(Route(route.tenant, DEAD), limit=1) as deliveries:
                dead = await following(deliveries)
        finally:
            await transport.close()

        assert {first.body, second.body} == {b"1", b"2"}
        assert (dead.body, dead.death) == (
            first.body,
            Death(REFUSED, route.name, "it is wrong", 1),
        )

    async def test_depths_count_what_waits_and_checks_find_nothing_wrong(self) -> None:
        """A route that there was not holds nothing."""
        route, other, transport = a_route(), a_route(), self.transport()
        try:
            await transport.publish([(route, b"1"), (route, b"2")])
            found = await transport.depths([route, other])
            checked = await transport.check([route, a_route()])
        finally:
            await transport.close()

        assert [tuple(one) for one in found] == [(2, 0), (0, 0)]
        assert checked
        assert {finding.verdict for finding in checked} == {"ok"}

    async def test_routes_are_apart(self) -> None:
        """A consumer gets the messages of its queue."""
        one, other, transport = a_route(), a_route(), self.transport()
        try:
            assert await transport.publish([(one, b"1"), (other, b"2")]) == [True, True]
            async with transport.consume(other, limit=5) as deliveries:
                come = await following(deliveries)
        finally:
            await transport.close()

        assert come.body == b"2"


def a_route() -> Route:
    """Return a route that nobody else uses."""
    return Route(f"tenant-{uuid4().hex[:8]}", "q")


async def following(deliveries: AsyncIterator[Delivery]) -> Delivery:
    """Return the next delivery."""
    async with asyncio.timeout(_WITHIN_S):
        return await anext(deliveries)
