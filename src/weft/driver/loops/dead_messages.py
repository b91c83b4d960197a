"""The loop that keeps messages which nobody wants (ADR 113), and sends them again if asked to.

They end in a queue of each tenant, `DEAD`; one is acknowledged there when the store has it.
"""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Final

from weft.core.consumer_limits import DEAD_MAX
from weft.core.deliveries.mail import DeadMail
from weft.core.settling import settle_each
from weft.driver.loops.deliveries import Post
from weft.driver.loops.following import Following, Key
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.loops.release import Transports
from weft.ports.senders import Mail, Mailer
from weft.ports.store import DeadMessage
from weft.ports.transport import DEAD, DEAD_BYTES_MAX, Delivery, Route, TransportError, route_of
from weft.telemetry import metrics
from weft.telemetry.log import log

FOLLOW_S: Final = 10.0
"""Between two looks for tenants whose queues travel."""
PAUSE_S: Final = 0.5
AGAIN_MAX: Final = 100
MAILED: Final = 250
"""What a server of SMTP says that has taken a mail."""


class _DeadMessages:
    def __init__(self, context: LoopContext, transports: Transports) -> None:
        self._context = context
        self._transports = transports
        self._store = transports.store
        self._following = Following(self._keep)
        self._mail = DeadMail(context.settings.dead_messages_mails_per_hour)
        self._mailing: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Keep and send until cancelled."""
        epoch, names = self._context.epoch, sorted(self._transports.by_name)
        try:
            while True:
                travelling = await self._store.list_travelling(epoch, names)
                wanted = {(transport, tenant) for transport, tenant, _ in travelling}
                await self._following.follow(wanted | set(self._transports.topics_of))
                await self._send_again()
                self._tell()
                await asyncio.sleep(PAUSE_S)
                await self._context.bell.heard(FOLLOW_S)
                self._following.raise_failure()
        finally:
            if self._mailing is not None:
                self._mailing.cancel()
            await self._following.end()

    async def _keep(self, key: Key) -> None:
        """Keep what comes. Raise `TransportError` when the connection ends."""
        name, tenant = key
        transport, route = self._transports.by_name[name], Route(tenant, DEAD)
        async with transport.consume(route, limit=DEAD_MAX) as deliveries:
            async for one in deliveries:
                await settle_each([one], partial(self._keep_one, key), partial(self._drop, key))
                await one.acknowledge()

    async def _drop(self, key: Key, delivery: Delivery, error: Exception) -> None:
        """Tell of a message that cannot be kept: it must not hold up the others."""
        log.error("transport.not_kept", transport=key[0], bytes=len(delivery.body), exc_info=error)

    async def _keep_one(self, key: Key, some: Sequence[Delivery]) -> None:
        (delivery,) = some
        (name, tenant), settings = key, self._context.settings
        death, body = delivery.death, delivery.body[:DEAD_BYTES_MAX]
        route = route_of(tenant, death.source)
        message = DeadMessage(
            name,
            tenant,
            death.source,
            None if route is None else route.queue,
            death.reason,
            death.error,
            body,
            max(len(delivery.body), death.n_bytes or 0),
        )
        await self._store.keep_dead_message(
            self._context.epoch,
            message,
            keep_max=settings.dead_messages_max,
            keep_s=settings.dead_messages_keep_s,
        )
        log.warning(
            "transport.dead_message",
            transport=name,
            source=death.source[:200],
            reason=death.reason,
            bytes=message.n_bytes,
        )
        metrics.TRANSPORT_DEAD.labels(name, death.reason).inc()
        if settings.dead_messages_mail:
            self._mail.note(name, death.reason, death.source)

    def _tell(self) -> None:
        """Begin to mail what is due, unless that is under way: the server may be slow."""
        post = self._context.adapters.get(Post)
        if post is None or post.mailer is None or self._is_mailing():
            return
        now_s = time.monotonic()
        if (letter := self._mail.take(now_s)) is not None:
            mail = Mail(
                to=self._context.settings.dead_messages_mail,
                name=f"dead-{self._context.epoch}-{now_s:.0f}",
                subject=letter[0],
                text=letter[1],
            )
            self._mailing = asyncio.create_task(_hand_in(post.mailer, mail))

    def _is_mailing(self) -> bool:
        return self._mailing is not None and not self._mailing.done()

    async def _send_again(self) -> None:
        store, epoch = self._store, self._context.epoch
        dead_messages = await store.take_dead_messages(
            epoch,
            sorted(self._transports.by_name),
            keep_s=self._context.settings.dead_messages_keep_s,
            limit=AGAIN_MAX,
        )
        sent: list[int] = []
        for name in sorted({message.transport for message in dead_messages}):
            some = [message for message in dead_messages if message.transport == name]
            messages = [(Route(one.tenant, one.queue), one.body) for one in some]
            try:
                kept = await self._transports.by_name[name].publish(messages)
            except TransportError as error:
                log.warning("transport.away", transport=name, error=str(error))
                continue
            sent += [one.dead_id for one, is_kept in zip(some, kept, strict=True) if is_kept]
        if sent:
            await store.end_dead_messages(epoch, sent)


async def _hand_in(mailer: Mailer, mail: Mail) -> None:
    answered = await mailer.send(mail)
    if answered.status != MAILED:
        log.warning("transport.mail_failed", error=answered.error or f"status {answered.status}")


async def _run(context: LoopContext) -> None:
    await _DeadMessages(context, await context.needed(Transports)).run()


LOOP = Loop("dead_messages", _run)
