"""What a driver acts with outside the database. A new adapter is made here, and nowhere else.

The sinks of a driver: each kind is made when a message first needs it.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import Any, Final

from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.mail import parse_mail_server
from weft.core.deliveries.sinks import COMMAND
from weft.core.ends.conditions import parse_tester_commands
from weft.core.ends.end_words import signal_name
from weft.core.errors import PackageMissing
from weft.driver.adapters import Adapters
from weft.driver.loops.autoscale import Providers
from weft.driver.loops.conditions import ConditionTester
from weft.driver.loops.deliveries import Post
from weft.driver.loops.events_out import EventReaders, EventsOut
from weft.driver.loops.job_topics import Announced, Announcements
from weft.driver.loops.operate import SigningKeys
from weft.driver.loops.release import Transports
from weft.driver.loops.subscriptions import NoticeForms
from weft.plugins.callback_senders.http.sender import HttpCallbackSender
from weft.plugins.callback_senders.http.settings import HttpSettings
from weft.plugins.mailers.smtp import SmtpMailer
from weft.ports.plugins import PluginNotInstalled
from weft.ports.provider import PROVIDER_PLUGINS, Provider, ProviderSite
from weft.ports.senders import Answered
from weft.ports.sink import SINK_PLUGINS, Sink, SinkMessage, SinkSite
from weft.ports.source import SourceReader
from weft.run.child import ROLE_VARIABLE, SUPERVISOR_VARIABLE
from weft.run.doors import callback_forms, notice_forms
from weft.run.home import Home
from weft.run.isolated.asking.messages import ConditionTests, MessageMaking
from weft.run.isolated.asking.sources import SourceReads
from weft.run.isolated.process import kill_group
from weft.run.job_topics import opened_event_sinks, opened_topics
from weft.run.role_process import role_environment
from weft.run.secret_keys import read_secret_keys
from weft.run.transports import opened_sinks, opened_transports
from weft.settings import Settings
from weft.settings.transports_file import known_transports, read_transports
from weft.store import DriverStore
from weft.telemetry.log import log
from weft.wire.sealed import SecretKeys


class LineSinks:
    """Hands each message to the sink of its kind."""

    def __init__(self, site: SinkSite, commands: Mapping[str, str]) -> None:
        self._site = site
        self._known: dict[str, Sink] = {"command": SinkCommands(commands)}

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        kind = sink["kind"]
        if (found := self._known.get(kind)) is None:
            try:
                found = SINK_PLUGINS.load(kind)(self._site)
            except (PluginNotInstalled, PackageMissing) as error:
                return Answered(error=str(error))
            self._known[kind] = found
        return await found.send(sink, message)

    async def close(self) -> None:
        for sink in self._known.values():
            await sink.close()


def line_sinks(settings: Settings, home: Home, store: DriverStore) -> LineSinks:
    """Return the sinks of a driver. Raise `InvalidSetting`."""
    site = SinkSite(
        connections=read_transports(settings.transports_file),
        find_store=store.find_sink_store,
        keys=lambda: read_secret_keys(settings, home),
        store_buckets=settings.store_buckets,
        allowed=parse_allowed_hosts(settings.store_private_hosts),
        callbacks=parse_allowed_hosts(settings.callback_private_hosts),
    )
    return LineSinks(site, parse_tester_commands(settings.sink_commands))


# A program that takes too long is killed with all that it started. Its environment holds no
# settings and no secrets.

DELIVERY_VARIABLE: Final = "WEFT_DELIVERY"
"""The name of the delivery, the same in every try."""
_SAID_BYTES: Final = 4096
_SAID_CHARS_MAX: Final = 300
_PIECE_BYTES: Final = 1 << 16
_ENVIRONMENT: Final = ("HOME", "LANG", "LC_ALL", "PATH", "TZ")


class SinkCommands:
    """Runs programs that the setting `sink_commands` names."""

    def __init__(self, programs: Mapping[str, str]) -> None:
        self._programs = programs

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        """Run the program of a sink once; its exit code is the status."""
        name, *arguments = sink["command"]
        program = self._programs.get(name)
        if program is None:
            return Answered(error=f"there is no command {name!r} in the setting sink_commands")
        kept = {one: os.environ[one] for one in _ENVIRONMENT if one in os.environ}
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                cwd="/",
                start_new_session=True,
                env={**kept, DELIVERY_VARIABLE: message.name},
            )
        except OSError as error:
            return Answered(error=f"{COMMAND}{name}: {error.strerror}")
        try:
            async with asyncio.timeout(sink["timeout_s"]):
                said = await _talk(process, message.body)
                code = await process.wait()
        except TimeoutError:
            return Answered(error=f"it did not end within {sink['timeout_s']:g} s")
        finally:
            kill_group(process)
            await process.wait()
        if code < 0:
            return Answered(error=f"it was killed by {signal_name(-code)}")
        return Answered(status=code, error=said or None, delivered=code == 0)

    async def close(self) -> None:
        """A program ends with its message."""


async def _talk(process: asyncio.subprocess.Process, body: bytes) -> str:
    """Give it the message; return the last line that it says."""
    writing = asyncio.create_task(_write(process, body))
    assert process.stderr is not None
    last = b""
    try:
        while piece := await process.stderr.read(_PIECE_BYTES):
            last = (last + piece)[-_SAID_BYTES:]
        await writing
    finally:
        writing.cancel()
    lines = last.decode(errors="replace").strip().splitlines()
    return lines[-1][:_SAID_CHARS_MAX].replace("\0", "") if lines else ""


async def _write(process: asyncio.subprocess.Process, body: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it need not read all
        process.stdin.write(body)
        await process.stdin.drain()
        process.stdin.close()
        await process.stdin.wait_closed()


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
        sender,
        key,
        callback_forms(),
        messages.make,
        notice_forms(),
        line,
        None
        if server is None
        else SmtpMailer(
            server, settings.mail_from, settings.mail_tls, timeouts.callback_timeout_s
        ),
        keys,
    )


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
