"""The driver as a process: `python -m weft.run.driver`."""

import asyncio
import signal
import sys
import time
from contextlib import ExitStack

from weft import __version__
from weft.driver.lead import Driver
from weft.ports.patience import end_tasks
from weft.run.driver_adapters import driver_adapters
from weft.run.home import Home
from weft.run.login import login_dsn
from weft.run.metrics_file import leaving_metrics
from weft.run.role_main import Told, begin_schema_check, run_role, until_told
from weft.settings import Settings
from weft.store import open_driver_store
from weft.telemetry.log import log


def main() -> int:
    """Drive until SIGTERM; return the exit code."""
    return run_role("driver", _drive)


async def _drive(settings: Settings, name: str, told: Told) -> int:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, lambda: None)
    home = Home(settings.home)
    home.prepare()
    with ExitStack() as until_exit:

        def say_ready(_state: str) -> None:
            if not (home.run / f"{name}.ready").exists():
                until_exit.enter_context(home.saying_ready(name))
                log.info("role.started", version=__version__, home=str(home.path))

        async with (
            leaving_metrics(home, name, every_s=settings.heartbeat_s),
            open_driver_store(login_dsn(settings, "weft_driver"), settings.pooler) as store,
            driver_adapters(settings, home, store) as adapters,
        ):
            schema_check = await begin_schema_check(store)
            driver = Driver(store, store.notices, settings, adapters, on_state=say_ready)
            loop.add_signal_handler(signal.SIGUSR1, driver.succeed)
            running = asyncio.create_task(driver.run())
            await until_told(told, running, schema_check)
            begun = time.monotonic()
            await end_tasks([running])
    log.info("role.stopped", ms=round((time.monotonic() - begun) * 1000))
    return 0


if __name__ == "__main__":
    sys.exit(main())
