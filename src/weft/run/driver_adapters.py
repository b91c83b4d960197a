"""What a driver acts with outside the database. A new adapter is made here, and nowhere else."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache, partial

from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.mail import parse_mail_server
from weft.driver.adapters import Adapters
from weft.driver.loops.autoscale import Providers
from weft.driver.loops.conditions import ConditionTester
from weft.driver.loops.deliveries import Post
from weft.driver.loops.events_out import EventReaders, EventsOut
from weft.driver.loops.job_topics import Announced, Announcements
from weft.driver.loops.operate import SigningKeys
from weft.driver.loops.release import Transports
from weft.driver.loops.subscriptions import NoticeForms
from weft.plugins.callback_senders.http import HttpCallbackSender
from weft.plugins.callback_senders.http.settings import HttpSettings
from weft.plugins.mailers.smtp import SmtpMailer
from weft.ports.provider import PROVIDER_PLUGINS, Provider, ProviderSite
from weft.ports.source import SourceReader
from weft.run.child import ROLE_VARIABLE, SUPERVISOR_VARIABLE
from weft.run.doors import callback_forms, notice_forms
from weft.run.home import Home
from weft.run.isolated.asking.messages import MessageMaking
from weft.run.isolated.asking.sources import SourceReads
from weft.run.isolated.asking.tests import ConditionTests
from weft.run.job_topics import opened_event_sinks, opened_topics
from weft.run.line_sinks import LineSinks, line_sinks
from weft.run.role_process import role_environment
from weft.run.secret_keys import read_secret_keys
from weft.run.transports import opened_sinks, opened_transports
from weft.settings import Settings
from weft.settings.transports_file import known_transports
from weft.store import DriverStore
from weft.telemetry.log import log
from weft.wire.sealed import SecretKeys


@asynccontextmanager
async def driver_adapters(
    settings: Settings, home: Home, store: DriverStore
) -> AsyncIterator[Adapters]:
    """Make the adapters of a driver, and end them after it."""
    keys = partial(read_secret_keys, settings, home)
    tests, reads = ConditionTests(settings), SourceReads(settings, keys)
    messages = MessageMaking()
    line = line_sinks(settings, home, store)
    post = _post(settings, home, messages, line, keys)
    try:
        async with (
            opened_transports(settings) as transports,
            opened_sinks(settings) as sinks,
            opened_topics(settings) as topics,
            opened_event_sinks(settings) as event_sinks,
        ):
            topics_of = {
                (one.name, tenant)
                for one in known_transports(settings.transports_file)
                for tenant in one.tenants_in
            }
            yield Adapters(
                _providers(settings, home),
                ConditionTester(tests.test),
                NoticeForms(notice_forms()),
                SourceReader(reads.read),
                SigningKeys(keys),
                *([] if post is None else [post]),
                *([Transports(transports, store, topics_of, sinks)] if transports else []),
                Announcements(
                    [
                        Announced(one.topics, store, one.name, one.jobs.tenant, one.jobs.door)
                        for one in topics
                    ]
                ),
                EventReaders(
                    [
                        EventsOut(sink, store, name, events.tenant, events.user)
                        for name, events, sink in event_sinks
                    ]
                ),
            )
    finally:
        await tests.close()
        await messages.close()
        await line.close()
        await reads.close()


def _post(
    settings: Settings,
    home: Home,
    messages: MessageMaking,
    line: LineSinks,
    keys: Callable[[], SecretKeys],
) -> Post | None:
    """Return what signs and sends callbacks; None if this home has no key: they stay due."""
    key = home.callback_key()
    if key is None:
        log.error(
            "callback.no_key",
            hint=f"Copy callback.json from the home of `weft up` to {home.path}, readable by you "
            "only, and start this driver again.",
        )
        return None
    timeouts = settings.section(HttpSettings)
    sender = HttpCallbackSender(
        parse_allowed_hosts(settings.callback_private_hosts),
        timeouts.callback_connect_timeout_s,
        timeouts.callback_timeout_s,
    )
    server = parse_mail_server(settings.mail_server)
    return Post(
        sender, key, callback_forms(), messages.make, notice_forms(), line,
        None if server is None else SmtpMailer(
            server, settings.mail_from, settings.mail_tls, timeouts.callback_timeout_s
        ),
        keys,
    )  # fmt: skip


def _providers(settings: Settings, home: Home) -> Providers:
    """Return what loads the providers of machines, each when a pool first asks for it."""
    environment = role_environment(settings)
    for name in (SUPERVISOR_VARIABLE, ROLE_VARIABLE):
        environment.pop(name, None)

    @cache
    def load(name: str, tag: str) -> Provider:
        return PROVIDER_PLUGINS.load(name)(
            ProviderSite(
                tag=tag, environment=environment, logs=home.role_logs, section=settings.section
            )
        )

    return Providers(load)
