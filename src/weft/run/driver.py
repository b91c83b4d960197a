"""The driver as a process: `python -m weft.run.driver`."""

import asyncio
import signal
import sys
import time
from contextlib import ExitStack
from functools import cache, partial
from importlib.metadata import entry_points

from weft import __version__
from weft.core.addresses import parse_allowed_hosts
from weft.driver.lead import Driver
from weft.driver.loops.loop import Post, Providers
from weft.plugins.callback_senders.http import HttpCallbackSender
from weft.plugins.callback_senders.http.settings import HttpSettings
from weft.ports.provider import (
    ENTRY_POINTS,
    Provider,
    ProviderError,
    ProviderFactory,
    ProviderSite,
)
from weft.run.child import ROLE_VARIABLE, SUPERVISOR_VARIABLE
from weft.run.condition_tests import ConditionTests
from weft.run.home import Home
from weft.run.login import login_dsn
from weft.run.metrics_file import leaving_metrics
from weft.run.role_environment import role_environment
from weft.run.role_main import begin_schema_check, run_role, stop_signals, until_told
from weft.run.secret_keys import read_secret_keys
from weft.settings import Settings
from weft.store import open_driver_store
from weft.telemetry.log import get_logger

log = get_logger()


def main() -> int:
    """Drive until SIGTERM; return the exit code."""
    return run_role("driver", _drive)


async def _drive(settings: Settings, name: str) -> int:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, lambda: None)
    told = stop_signals()
    home = Home(settings.home)
    home.prepare()
    with ExitStack() as until_exit:

        def say_ready(_state: str) -> None:
            if not (home.run / f"{name}.ready").exists():
                until_exit.enter_context(home.saying_ready(name))
                log.info("role.started", version=__version__, home=str(home.path))

        async with (
            leaving_metrics(home, name, every_s=settings.heartbeat_s),
            open_driver_store(login_dsn(settings, "weft_driver")) as store,
        ):
            schema_check = await begin_schema_check(store)
            tests = ConditionTests(settings)
            driver = Driver(
                store,
                store.notices,
                settings,
                on_state=say_ready,
                post=_post(settings, home),
                providers=_providers(settings, home),
                test=tests.test,
                secret_keys=partial(read_secret_keys, settings, home),
            )
            loop.add_signal_handler(signal.SIGUSR1, driver.succeed)
            running = asyncio.create_task(driver.run())
            await until_told(told, running, schema_check)
            begun = time.monotonic()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await tests.close()
    log.info("role.stopped", ms=round((time.monotonic() - begun) * 1000))
    return 0


def _post(settings: Settings, home: Home) -> Post | None:
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
    return Post(sender, key)


def _providers(settings: Settings, home: Home) -> Providers:
    """Return what loads the providers of machines, each when a pool first asks for it."""
    environment = role_environment(settings)
    for name in (SUPERVISOR_VARIABLE, ROLE_VARIABLE):
        environment.pop(name, None)

    @cache
    def load(name: str, tag: str) -> Provider:
        (entry,) = entry_points(group=ENTRY_POINTS, name=name) or (None,)
        if entry is None:
            raise ProviderError(f"no installed package provides {name!r}")
        factory: ProviderFactory = entry.load()
        return factory(ProviderSite(tag=tag, environment=environment, logs=home.role_logs))

    return load


if __name__ == "__main__":
    sys.exit(main())
