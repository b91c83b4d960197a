"""The driver as a process: `python -m weft.run.driver`."""

import asyncio
import signal
import sys
import time
from contextlib import ExitStack

from weft import __version__
from weft.core.errors import WeftError
from weft.driver.lead import Driver
from weft.run.child import end_with_supervisor, role_name
from weft.run.home import Home
from weft.run.login import login_dsn
from weft.run.metrics_file import leaving_metrics
from weft.settings import Settings, load_settings
from weft.store import open_driver_store
from weft.telemetry.log import configure, get_logger

log = get_logger()


def main() -> int:
    """Drive until SIGTERM; return the exit code."""
    name = role_name("driver")
    try:
        settings = load_settings()
        configure(level=settings.log_level, format=settings.log_format, role=name)
        return asyncio.run(_drive(settings, name))
    except WeftError as error:
        log.error(  # noqa: TRY400 (a trace would not help: it is no defect)
            "role.failed",
            code=error.code,
            error=error.message,
            detail=error.detail,
            hint=error.hint,
        )
        return error.exit_code


async def _drive(settings: Settings, name: str) -> int:
    told: asyncio.Queue[signal.Signals] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.put_nowait, number)
    loop.add_signal_handler(signal.SIGUSR1, lambda: None)
    end_with_supervisor()
    home = Home(settings.home)
    with ExitStack() as until_exit:

        def say_ready(_state: str) -> None:
            if not (home.run / f"{name}.ready").exists():
                until_exit.enter_context(home.saying_ready(name))
                log.info("role.started", version=__version__, home=str(home.path))

        async with (
            leaving_metrics(home, name, every_s=settings.heartbeat_s),
            open_driver_store(login_dsn(settings, "weft_driver")) as store,
        ):
            driver = Driver(store, store.notices, settings, on_state=say_ready)
            loop.add_signal_handler(signal.SIGUSR1, driver.succeed)
            running = asyncio.create_task(driver.run())
            stopping = asyncio.create_task(told.get())
            await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
            begun = time.monotonic()
            log.info("role.stopping", signal=stopping.result().name)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
    log.info("role.stopped", ms=round((time.monotonic() - begun) * 1000))
    return 0


if __name__ == "__main__":
    sys.exit(main())
