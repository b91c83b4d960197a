"""The api as a process: `python -m weft.run.api`."""

import asyncio
import errno
import gc
import resource
import socket
import ssl
import sys
import time
from contextlib import ExitStack
from functools import partial

import uvicorn

from weft import __version__
from weft.api.app import Application, create_app
from weft.api.http.protocol import Connections, HttpProtocol
from weft.core.errors import Conflict
from weft.ports.extension import workers_outside
from weft.ports.plugins import loaded
from weft.ports.store import GroupLimits
from weft.run.doors import api_doors
from weft.run.files import kept_files, object_stores, running_files, tried_web_files
from weft.run.home import Home
from weft.run.isolated.asking.evaluation import Evaluation
from weft.run.isolated.asking.lookups import LookUps
from weft.run.isolated.asking.messages import MessageMaking
from weft.run.isolated.asking.sources import SourceTrials
from weft.run.job_topics import intakes, opened_topics
from weft.run.log_stores import log_reader
from weft.run.login import login_dsn
from weft.run.role_main import Told, begin_schema_check, run_role, until_told
from weft.run.secret_keys import read_secret_keys
from weft.run.tls import api_url, certificate_of, watch_certificate
from weft.run.transports import opened_submissions, submission_intakes
from weft.settings import Settings
from weft.store import open_api_store
from weft.telemetry.log import log
from weft.telemetry.loop_watch import watch_loop

BACKLOG = 1024
CONNECTIONS_MAX = 50_000
"""Each takes 10 kB. Where the system lets the api open few files, a quarter is for all else."""
KEEP_ALIVE_S = 75
GRACE_S = 1
"""Time for requests in progress when the server is told to stop. Streams end at once."""
_TURNS = 2
"""Turns of the loop in which a connection that was told to close does so."""


class AddressInUse(Conflict, code="UP.ADDRESS_NOT_USABLE"):
    """The api cannot listen on its address."""


class Server(uvicorn.Server):
    """uvicorn under our own signals, without its ten ticks a second: idle means idle."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.stopping = asyncio.Event()
        self.listening = asyncio.Event()

    async def run_on(self, listener: socket.socket) -> None:
        """Serve until `stopping` is set."""
        # `serve` would install signal handlers of its own.
        await self._serve([listener])

    async def main_loop(self) -> None:
        """Wait for the order to stop."""
        self.listening.set()
        await self.stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop as uvicorn does, but without its tenth of a second if nothing is under way."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        for _ in range(_TURNS):  # connections without a request close meanwhile
            await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
        for one in sockets or []:
            one.close()


def main() -> int:
    """Serve until SIGTERM; return the exit code."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # many shells allow 1,024 at first
    return run_role("api", _serve)


async def _serve(settings: Settings, name: str, told: Told) -> int:
    home = Home(settings.home)
    home.prepare()
    certificate = certificate_of(settings)
    listener = _listen(settings.host, settings.port)
    host, port = listener.getsockname()[:2]
    copies = home.path / "log-copies" / f"{name}-{port}"
    with listener, ExitStack() as until_exit:
        async with (
            open_api_store(
                login_dsn(settings, "weft_api"),
                limits=GroupLimits(
                    settings.group_depth_max, settings.batch_groups_max, settings.job_sets_max
                ),
                user_connections_max=settings.user_connections_max,
                pooler=settings.pooler,
            ) as store,
            loaded(workers_outside().served)(settings, home, copies) as link,
            opened_topics(settings) as topics,
            opened_submissions(settings) as submissions,
        ):
            schema_check = await begin_schema_check(store)
            keys, evaluation = partial(read_secret_keys, settings, home), Evaluation(settings)
            look_ups, messages = LookUps(settings, keys), MessageMaking()
            app = create_app(
                store,
                store.notices,
                log_reader(settings, home, copies),
                settings,
                link=link,
                callback_key=home.callback_key(),
                secret_keys=keys,
                doors=api_doors(),
                files_=kept_files(home),
                running=running_files(settings, home),
                look_ups=look_ups,
                evaluation=evaluation,
                source_trials=SourceTrials(settings, keys),
                objects=object_stores(settings, keys),
                web=tried_web_files(settings),
                make_message=messages.make,
            )
            tls = None if certificate is None else certificate.context
            server = Server(serving_config(app, tls))
            serving = asyncio.create_task(server.run_on(listener))
            beside = [
                asyncio.create_task(app.schedule_runs.run()),
                *(asyncio.create_task(part.run()) for part in app.beside),
                asyncio.create_task(app.forget_changes()),
                asyncio.create_task(watch_certificate(settings)),
                asyncio.create_task(watch_loop(asked=app.asked)),
                *map(asyncio.create_task, intakes(app.services, topics)),
                *map(asyncio.create_task, submission_intakes(app.services, submissions)),
            ]
            await server.listening.wait()
            gc.freeze()  # the routes, too, are never garbage: a look at all of them takes 25 ms
            until_exit.enter_context(home.saying_ready(name, host=host, port=port))
            log.info("role.started", version=__version__, home=str(home.path))
            log.info("api.listening", url=api_url(settings, port), host=host, port=port)
            await until_told(told, serving, schema_check)
            begun = time.monotonic()
            for task in beside:
                task.cancel()
            app.close()
            server.stopping.set()
            await serving
            await app.finish()
            await asyncio.gather(*beside, return_exceptions=True)
            await asyncio.gather(look_ups.close(), evaluation.close(), messages.close())
    log.info("role.stopped", ms=round((time.monotonic() - begun) * 1000))
    return 0


def serving_config(app: Application, tls: ssl.SSLContext | None = None) -> uvicorn.Config:
    """Return how uvicorn serves the application. `tls`: None: without TLS."""
    head_s = app.services.settings.head_timeout_s
    files_max = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    kept = Connections(min(CONNECTIONS_MAX, files_max * 3 // 4))
    return uvicorn.Config(
        app,
        ssl_context_factory=None if tls is None else lambda *_: tls,
        proxy_headers=False,  # it would believe every program of this machine
        http=partial(HttpProtocol, kept, head_s=head_s),  # type: ignore[arg-type]  # called like the class
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,  # by ten ticks a second; `CompleteReplies` adds it
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )


def _listen(host: str, port: int) -> socket.socket:
    """Take the address first, so that an address in use is reported before anything happens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        hint = "Choose another port (`--port`, 0 takes a free one) or address (`--host`)."
        if error.errno == errno.EADDRINUSE:
            hint = "Stop the other program, or take a free port with `--port 0`."
        raise AddressInUse(
            f"cannot listen on {host} port {port}", detail=f"{error.strerror or error}.", hint=hint
        ) from error
    # Head and body are two writes: without this the second waits 40 ms for an acknowledgement.
    # Accepted connections inherit it; asyncio would set it only if the socket named its protocol.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


if __name__ == "__main__":
    sys.exit(main())
