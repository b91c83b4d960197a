"""The loop that sends callbacks of completions, messages of sinks and notices of subscriptions, at
least once each, without delaying others; callbacks of a door may be sent once at most, unless a
leader dies meanwhile.

A delivery is due until the database knows its outcome. If a leader dies while it sends, the
delivery stays due, and the next leader sends it again under the same name. While nothing is due,
the loop asks nothing: it waits for its bell, which a notice rings, and for the next date.
"""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from weft import __version__
from weft.core.deliveries.callback_signature import (
    DELIVERY_HEADER,
    SIGNATURE_HEADER,
    sign,
    tenant_secret,
)
from weft.core.deliveries.callback_url import without_login
from weft.core.deliveries.delivery_retry import (
    NoticePolicy,
    RetryPlan,
    is_delivered,
    next_notice_s,
    next_try_s,
)
from weft.core.deliveries.mail import SCHEME
from weft.core.deliveries.sinks import CHECK_S, CHECKS_MAX, HTTP, checks_of, is_rejected, target_of
from weft.core.errors import SecretKeyMissing
from weft.core.text.filling import CannotFill
from weft.driver.callback_forms import CallbackBody, CallbackForm, NoticeForm, body_of
from weft.driver.loops.deliveries_in_flight import STALE_S, InFlight
from weft.driver.loops.loop import Loop, LoopContext
from weft.faults import fault_point
from weft.net.exchange import redirection
from weft.ports.patience import tasks_beside
from weft.ports.senders import Answered, CallbackSender, Mail, Mailer
from weft.ports.sink import MakeMessage, Misfit, Sink, SinkMessage
from weft.ports.store import DeliveryReport, DueCallback
from weft.telemetry import metrics
from weft.telemetry.log import lines_together, log
from weft.wire.sealed import OpensSecrets, SecretKeys, opened

LONGEST_WAIT_S = 86_400.0
REDIRECTIONS_MAX = 5
LATE_S = 0.01
"""The timer rings this long after the date, so that the database agrees that it has passed."""

RECORDED_MAX = 500
_after_callback = fault_point("driver.after_callback")
_after_message = fault_point("driver.after_message")


class _Ended(NamedTuple):
    """A delivery, how it went, and the seconds that took."""

    delivery: DueCallback
    report: DeliveryReport
    took_s: float


@dataclass(frozen=True)
class Post:
    """Sign and send callbacks. `key`: the deployment's key, from which tenants' secrets derive."""

    sender: CallbackSender
    key: str
    forms: Mapping[str, CallbackForm] = field(default_factory=dict)
    """Of callbacks of batches that came through doors, by door."""
    make: MakeMessage | None = None
    """Makes messages of sinks; without it they are not sent."""
    notices: Mapping[str, NoticeForm] = field(default_factory=dict)
    """Of notices of jobs that came through doors, by door."""
    sinks: Sink | None = None
    """Hands over messages of sinks of other kinds than `http`; without it they are not sent."""
    mailer: Mailer | None = None
    """Hands in notices to mailboxes; without it they are not sent."""
    keys: Callable[[], OpensSecrets] = SecretKeys
    """Open the secrets that sinks name."""


async def _run(context: LoopContext) -> None:
    await CallbackLoop(context, await context.needed(Post)).run()  # till then they stay due


class CallbackLoop:
    """Take due deliveries in sets, send them within the limits of the settings, each in its own
    task, and record in sets how they went.
    """

    def __init__(self, context: LoopContext, post: Post) -> None:
        self._store = context.store
        self._epoch = context.epoch
        self._bell = context.bell
        self._post = post
        self._settings = settings = context.settings
        self._plan = RetryPlan(
            first_s=settings.callback_retry_first_s,
            longest_s=settings.callback_retry_longest_s,
            attempts_max=settings.callback_attempts_max,
            age_max_s=settings.callback_age_max_s,
        )
        self._hand = InFlight(settings)
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed: asyncio.Task[None] | None = None
        self._ended: list[_Ended] = []
        self._has_ended = asyncio.Event()

    async def run(self) -> None:
        """Send until cancelled; the next term repeats deliveries that were under way."""
        self._start(self._record())
        async with tasks_beside(self._tasks):
            while True:
                if self._failed is not None:
                    self._failed.result()  # raises: this term is over
                # Asked first: what falls due between the two is started, instead of waiting for a
                # bell.
                wait_s = await self._store.next_callback(self._epoch)
                await self._start_due()
                if wait_s is not None:
                    wait_s = min(wait_s + LATE_S, LONGEST_WAIT_S)
                await self._bell.heard(wait_s)

    async def _start_due(self) -> None:
        """Start the deliveries that are due, as far as they are to be in hand."""
        hand = self._hand
        due = await self._store.due_callbacks(
            self._epoch,
            hand.ids(),
            limit_all=hand.limit_all,
            limit_tenant=hand.limit_tenant,
            limit_host=hand.limit_host,
        )
        hand.take(due)
        now = time.monotonic()
        for callback in due:
            self._start(self._deliver(callback, now))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failed = task
            self._bell.ring()

    async def _deliver(self, one: DueCallback, taken_at: float) -> None:
        """Make one attempt, if its turn comes in time; its outcome is recorded with others."""
        async with self._hand.making(one):
            made = await self._made(one)
            async with self._hand.sending(one):
                begun = time.monotonic()
                waited_s = begun - taken_at
                if waited_s > STALE_S:
                    self._hand.drop(one.delivery_id)
                    self._bell.ring()
                    return
                one = msgspec.structs.replace(
                    one, sent_at=one.sent_at + int(waited_s), age_s=one.age_s + waited_s
                )
                answered, once = await self._tried(one, made)
        try:
            (_after_callback if one.sink is None else _after_message)()
            report = self._report_of(one, answered, once=once)
        except Exception as error:
            log.exception("callback.outcome_lost", delivery=one.name)
            unknown = Answered(error=f"its outcome is not known: {type(error).__name__}")
            bare = msgspec.structs.replace(one, sink=None, subscription=None)
            report = self._report_of(bare, unknown, once=once)
        self._ended.append(_Ended(one, report, time.monotonic() - begun))
        self._has_ended.set()

    async def _made(self, callback: DueCallback) -> CallbackBody | Answered:
        """Return what is to be sent, or why there is nothing."""
        try:
            return await self._body(callback)
        except Misfit as error:
            return Answered(error=str(error), rejected=True)
        except ValueError as error:  # a template that cannot be used
            return Answered(error=str(error))
        except Exception as error:  # noqa: BLE001 (as below)
            return Answered(error=f"it cannot be made: {type(error).__name__}")

    async def _tried(
        self, callback: DueCallback, made: CallbackBody | Answered
    ) -> tuple[Answered, bool]:
        """Send; return the answer, and whether it is never sent again."""
        if isinstance(made, Answered):
            return made, False
        body, once = made
        try:
            return await self._checked(callback) or await self._send(callback, body), once
        except Misfit as error:
            return Answered(error=str(error), rejected=True), False
        except ValueError as error:
            return Answered(error=str(error)), False
        except Exception as error:  # noqa: BLE001 (one receiver must not hold up all others)
            return Answered(error=f"it cannot be sent: {type(error).__name__}"), once

    async def _record(self) -> None:
        """Record what has ended: what ends meanwhile is recorded together."""
        while True:
            await self._has_ended.wait()
            self._has_ended.clear()
            while some := self._ended[:RECORDED_MAX]:
                del self._ended[: len(some)]
                await self._store.record_deliveries(self._epoch, [one.report for one in some])
                with lines_together():
                    for one in some:
                        _tell(*one)
                if self._hand.recorded((one.delivery, one.report) for one in some):
                    self._bell.ring()

    async def _checked(self, one: DueCallback) -> Answered | None:
        """Make the checks that a product names; `None`: it may be sent. Raise `ValueError` if they
        cannot be made now.
        """
        if one.sink is None:
            return None
        if one.sink["held"] == "dropped":
            return Answered(error="somebody has dropped it")
        if one.sink["held"] == "passed" or not one.sink["checks"]:
            return None
        facts = msgspec.json.decode(one.body, type=dict[str, Any])
        names = checks_of(facts)
        if names is None:
            return Answered(error=f"its `checks` are not a list of {CHECKS_MAX} names", held=True)
        for name in names:
            command = one.sink["checks"].get(name)
            if command is None:
                return Answered(error=f"its sink has no check {name}", held=True)
            if self._post.sinks is None:
                raise ValueError("this driver makes no checks")
            program = {"kind": "command", "command": command, "timeout_s": CHECK_S}
            message = SinkMessage(
                one.tenant_id, one.sink["tenant"], one.name, facts["product"].encode(), {}
            )
            answered = await self._post.sinks.send(program, message)
            said = f"check {name}: {answered.error or f'exit code {answered.status}'}"
            if answered.status is None:
                raise ValueError(said)
            if answered.status != 0:
                return Answered(status=answered.status, error=said, delivered=False, held=True)
        return None

    async def _send(self, callback: DueCallback, body: bytes) -> Answered:
        """Send once; a notice follows redirections, each of which is judged like its own URL."""
        if callback.sink is not None and callback.sink["kind"] != HTTP:
            if self._post.sinks is None:
                return Answered(error=f"this driver has no sinks of kind {callback.sink['kind']}")
            return await self._post.sinks.send(callback.sink, _message_of(callback, body))
        url, headers = callback.url, self._headers(callback, body)
        if callback.sink is not None:
            url, given = self._opened(callback, callback.sink)
            return await self._post.sender.send(url, {**given, **headers}, body)
        if callback.subscription is None:
            return await self._post.sender.send(url, headers, body)
        form = self._post.notices.get(callback.door or "")
        if url.startswith(SCHEME):
            return await self._mail(callback, form, body)
        url, login = without_login(url)
        if form is not None:
            headers = {**headers, **form.headers(callback.name, callback.subscription["name"])}
        answered = await self._post.sender.send(url, {**headers, **login}, body)
        for _ in range(REDIRECTIONS_MAX):
            target = redirection(url, answered.status, answered.location)
            if target is None:
                break
            if urlsplit(target)[:2] != urlsplit(url)[:2]:
                login = {}  # is for the first host alone
            url = target
            answered = await self._post.sender.send(url, {**headers, **login}, body)
        return answered

    def _opened(self, one: DueCallback, sink: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
        """Return address and headers of a sink, with its secrets. Raise `ValueError`."""
        options: Mapping[str, Any] = {"url": one.url, "headers": sink.get("headers", {})}
        if sink["sealed"] is not None:
            try:
                options = opened(options, sink["sealed"], self._post.keys()).options
            except SecretKeyMissing as error:
                raise ValueError(str(error)) from error
        url, login = without_login(options["url"])
        given = {**login, **options["headers"]}
        if not all(value.isascii() and value.isprintable() for value in given.values()):
            raise ValueError("a secret of its headers has what no header may have")
        ours = {"content-type", "user-agent", DELIVERY_HEADER.lower(), SIGNATURE_HEADER.lower()}
        return url, {name: value for name, value in given.items() if name.lower() not in ours}

    async def _mail(self, one: DueCallback, form: NoticeForm | None, body: bytes) -> Answered:
        """Mail a notice."""
        if self._post.mailer is None or form is None:
            return Answered(error="this driver sends no mail: the setting mail_server is empty")
        subject, text = form.mail(body)
        to = one.url.removeprefix(SCHEME)
        return await self._post.mailer.send(Mail(to=to, name=one.name, subject=subject, text=text))

    async def _body(self, callback: DueCallback) -> CallbackBody:
        """Return what is sent. Raise `ValueError`."""
        if callback.subscription is not None:
            return CallbackBody(callback.body.encode(), once=False)
        if callback.sink is None:
            return body_of(callback, self._post.forms)
        if self._post.make is None:
            raise ValueError("this driver makes no messages")
        facts = msgspec.json.decode(callback.body, type=dict[str, Any])
        schema = callback.sink.get("schema")
        text = None if schema is None else msgspec.json.encode(schema).decode()
        made = await self._post.make(callback.tenant_id, callback.sink["message"], facts, text)
        return CallbackBody(made.encode(), once=False)

    def _headers(self, callback: DueCallback, body: bytes) -> Mapping[str, str]:
        secret = tenant_secret(self._post.key, callback.tenant_id)
        signature = sign(secret, sent_at=callback.sent_at, delivery=callback.name, body=body)
        return {
            "Content-Type": "application/json",
            "User-Agent": f"weft/{__version__}",
            DELIVERY_HEADER: callback.name,
            SIGNATURE_HEADER: signature,
        }

    def _report_of(self, one: DueCallback, answered: Answered, *, once: bool) -> DeliveryReport:
        delivered, rejected, plan = is_delivered(answered.status), False, self._plan
        if one.sink is not None:
            if answered.delivered is not None:
                delivered = answered.delivered
            rejected = answered.rejected or is_rejected(one.sink, answered.status)
            tries = one.sink["rejected_tries"] if rejected else one.sink["tries"]
            plan = replace(plan, attempts_max=tries)
        retry_in_s = None
        stops = answered.held or (one.sink is not None and one.sink["held"] == "dropped")
        once = once or stops
        if not delivered and one.subscription is not None:
            policy = msgspec.convert(one.subscription["policy"], NoticePolicy)
            retry_in_s = next_notice_s(policy, one.n_attempts + 1)
        elif not delivered and not once:
            retry_in_s = next_try_s(
                plan,
                answered.status,
                attempts=one.n_attempts + 1,
                age_s=one.age_s,
                jitter=random.random(),  # noqa: S311 (spreads retries, guards nothing)
            )
        return DeliveryReport(
            delivery_id=one.delivery_id,
            delivered=delivered,
            status=answered.status,
            error=answered.error,
            retry_in_s=retry_in_s,
            rejected=rejected,
            held=answered.held,
        )


def _message_of(callback: DueCallback, body: bytes) -> SinkMessage:
    """Return what is handed over. Raise `Misfit`."""
    assert callback.sink is not None
    facts = msgspec.json.decode(callback.body, type=dict[str, Any])
    try:
        target = target_of(callback.sink["options"], facts)
    except CannotFill as error:
        raise Misfit(str(error)) from error
    return SinkMessage(callback.tenant_id, callback.sink["tenant"], callback.name, body, target)


def _tell(callback: DueCallback, report: DeliveryReport, took_s: float) -> None:
    """Count and log an attempt, without the URL, which may hold a secret."""
    outcome = "delivered" if report.delivered else "held" if report.held else "failed"
    if outcome == "failed" and report.retry_in_s is None:
        outcome = "given_up"
    metrics.CALLBACK_ATTEMPTS.labels(outcome).inc()
    metrics.CALLBACK_SECONDS.observe(took_s)
    facts = {
        "delivery": callback.name,
        "batch": callback.batch_id,
        "group": callback.group_id,
        "job": callback.job_id,
        "attempts": callback.n_attempts + 1,
        "status": report.status,
        "ms": round(took_s * 1000),
    }
    if outcome == "delivered":
        log.info("callback.delivered", **facts)
    elif outcome == "failed":
        log.info("callback.failed", error=report.error, retry_in_s=report.retry_in_s, **facts)
    elif outcome == "held":
        log.warning("callback.held", error=report.error, **facts)
    else:
        log.warning("callback.given_up", error=report.error, **facts)


LOOP = Loop("callback", _run)
