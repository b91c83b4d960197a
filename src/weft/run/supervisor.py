"""The life of one `weft up`: database, roles, and what happens when one of them dies.

Order of the start: lock of the home, what earlier processes left, database, schema, roles, which
load their modules meanwhile.
Order of the stop: worker (it reports its jobs), then api and driver, then the database.
"""

import asyncio
import random
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from weft.core.backoff import restart_after
from weft.core.database_name import database_name
from weft.core.errors import Conflict, WeftError
from weft.ports.patience import end_tasks
from weft.run.database import EmbeddedDatabase, external_secrets, prepare_schema
from weft.run.home import Home, HomeNotUsable
from weft.run.host.leftovers import end_machines, end_roles, end_spawners
from weft.run.host.sleepers import end_sleepers
from weft.run.host.worker_name import file_name_of, user_name
from weft.run.log_follow import keep_small
from weft.run.login import check_dsn
from weft.run.role_process import RoleProcess, describe_end, role_environment, until_exit
from weft.run.secret_keys import ensure_secret_keys
from weft.run.secrets_file import EMBEDDED
from weft.run.tls import api_url, certificate_of
from weft.settings import Settings
from weft.telemetry import metrics
from weft.telemetry.log import log

WORKER_STOP_S = 5.0
"""It needs less than 2 s; processes left after this do not end by themselves."""
ROLE_STOP_S = 2.0


class PortInUse(Conflict, code="UP.PORT_IN_USE"):
    """Another program listens on the api's port."""


@dataclass
class Supervisor:
    """Everything that one `weft up` holds. Make it while the home is locked."""

    settings: Settings
    home: Home
    url: str = ""
    doing: str = "looking for what earlier processes left"
    """The step of the start."""
    warning: str = ""
    """What whoever starts it should know."""
    _database: EmbeddedDatabase | None = None
    _token: str = ""
    _port: int = 0
    _worker: list[RoleProcess] = field(default_factory=list)
    _servants: list[RoleProcess] = field(default_factory=list)
    _keepers: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Bring everything up; return when all is ready."""
        self._reclaim()
        certificate_of(self.settings)  # else the api would say it again and again
        check_port(self.settings.host, self.settings.port)
        self._make_roles()
        roles = [*self._servants, *self._worker]
        self._keepers += [asyncio.create_task(role.keep()) for role in roles]
        await self._start_database()
        for role in roles:
            role.may_run.set()
        self.doing = "waiting until api, driver and worker are ready"
        logs = [self.home.role_logs / f"{name}.log" for name in [*self.names(), "up"]]
        self._keepers += [
            asyncio.create_task(keep_small(logs)),
            asyncio.create_task(end_sleepers(self._drivers(), every_s=self.settings.heartbeat_s)),
        ]
        await asyncio.gather(*(role.until_ready() for role in roles))

    async def until_broken(self) -> None:
        """Wait for a defect of the supervisor itself and raise it. Deaths of roles are none."""
        done, _ = await asyncio.wait(self._keepers, return_when=asyncio.FIRST_COMPLETED)
        for keeper in done:
            keeper.result()

    def _reclaim(self) -> None:
        ended = end_roles(self.home.path)
        for file in self.home.run.glob("*.ready"):
            file.unlink(missing_ok=True)
        if ended:
            log.warning("up.reclaimed", ended=ended)

    async def _start_database(self) -> None:
        loaded = asyncio.create_task(asyncio.to_thread(_load_store))
        database, logins = await self._find_database()
        await loaded
        from weft.run.named_tenants import (  # noqa: PLC0415 (`_load_store`)
            warn_of_jobs_together,
            warn_of_missing_names,
        )

        self._token = self.home.token() or secrets.token_urlsafe(32)
        self.doing = "bringing the schema of the database to this version"
        self.home.ensure_callback_key()
        ensure_secret_keys(self.settings, self.home)
        await prepare_schema(
            logins["admin"],
            logins,
            user=user_name(),
            token=self._token,
            home=f"{self.home.path} on {socket.gethostname()}",
            only_ours=self._database is not None,
        )
        await warn_of_missing_names(logins["admin"], self.settings)
        self.warning = await warn_of_jobs_together(logins["admin"], self.settings)
        # Not before they have worked: until then the former database stays the one in use.
        self.home.write_secrets(logins, database)

    async def _find_database(self) -> tuple[str, Mapping[str, str]]:
        """Return the name of the database and its logins; start the embedded one."""
        dsn = self.settings.database
        if dsn is not None:
            name = database_name(check_dsn(dsn))
            return name, external_secrets(dsn, self.home.secrets(name))
        self._database = EmbeddedDatabase(self.home)
        self.doing = f"{'starting' if self.home.pg.exists() else 'creating'} the database"
        begun = time.monotonic()
        postgres = await self._database.start()
        log.info("up.database_ready", ms=round((time.monotonic() - begun) * 1000))
        self._keepers.append(asyncio.create_task(self._keep_database(self._database, postgres)))
        return EMBEDDED, self._database.logins()

    async def _keep_database(
        self, database: EmbeddedDatabase, process: subprocess.Popen[bytes]
    ) -> None:
        """Start the database again whenever it ends. The roles wait for it by themselves."""
        deaths = 0
        while True:
            started_at = time.monotonic()
            code = await until_exit(process)
            lived_s = time.monotonic() - started_at
            process, deaths = await self._revive_database(database, code, deaths, lived_s)

    async def _revive_database(
        self, database: EmbeddedDatabase, code: int, deaths: int, lived_s: float
    ) -> tuple[subprocess.Popen[bytes], int]:
        """Try until it runs again; return it and how often it died in a row."""
        while True:
            deaths, delay_s = restart_after(deaths, lived_s=lived_s, jitter=random.random())  # noqa: S311 (spreads retries)
            metrics.ROLE_RESTARTS.labels("postgres").inc()
            log.warning(
                "up.role_ended",
                started="postgres",
                end=describe_end(code),
                lived_s=round(lived_s, 3),
                restart_in_s=round(delay_s, 3),
            )
            await asyncio.sleep(delay_s)
            try:
                process = await database.start()
            except WeftError as error:
                log.error("up.database_failed", **error.told)
                lived_s = 0.0
                continue
            log.info("up.database_ready", started_pid=process.pid)
            return process, deaths

    def _make_roles(self) -> None:
        api = RoleProcess("api", "weft.run.api", self.home, self._api_environment)
        api.on_ready = self._announce_api
        api.on_exit = self._forget_port
        drivers = [
            RoleProcess(
                "driver" if number == 1 else f"driver-{number}",
                "weft.run.driver",
                self.home,
                self._environment,
            )
            for number in range(1, self.settings.drivers + 1)
        ]
        for driver in drivers:
            driver.on_exit = self._wake_drivers
        self._servants = [api, *drivers]
        self._worker = [RoleProcess("worker", "weft.run.worker", self.home, self._environment)]

    def _wake_drivers(self, _was_ready: bool) -> None:  # noqa: FBT001 (the shape of `on_exit`)
        """Let the standby drivers try to lead: the leader may have died."""
        for role in self._drivers():
            role.send(signal.SIGUSR1)

    def _drivers(self) -> list[RoleProcess]:
        return [role for role in self._servants if role.name.startswith("driver")]

    def _environment(self) -> Mapping[str, str]:
        return role_environment(self.settings)

    def _api_environment(self) -> Mapping[str, str]:
        """Let a restarted api take its previous port, for clients that know it."""
        return role_environment(self.settings, port=str(self._port or self.settings.port))

    def _announce_api(self, facts: Mapping[str, Any]) -> None:
        self._port = int(facts["port"])
        self.url = api_url(self.settings, self._port)
        try:
            self.home.write_client(self.url, self._token, self.settings.tls_cert_file)
        except HomeNotUsable as error:  # clients that know the old url go on with it
            log.error("up.client_file_not_written", **error.told)

    def _forget_port(self, was_ready: bool) -> None:  # noqa: FBT001 (the shape of `on_exit`)
        """Let the api take another free port if its previous one is taken."""
        if self.settings.port == 0 and not was_ready:
            self._port = 0

    async def stop(self, *, hurry: bool = False) -> None:
        """End everything in order. `hurry`: without waiting for anybody."""
        if self._database is None and not self._keepers:
            return
        begun = time.monotonic()
        await end_tasks(self._keepers)
        patience = 0.0 if hurry else 1.0
        for role in self._worker:
            await role.stop(within_s=WORKER_STOP_S * patience)
        if not self.settings.detach_jobs:
            from weft.plugins.runners.spawner import lock_path  # noqa: PLC0415 (same)

            # Its agent may have been dead when we stopped. Other workers of the home go on.
            end_spawners(self.home.path, lock_path(self.home.run, file_name_of(self.settings)))
        await asyncio.gather(
            *(role.stop(within_s=ROLE_STOP_S * patience) for role in self._servants)
        )
        end_machines(self.home.path)  # the drivers that would make new ones have ended
        if self._database is not None:
            await self._database.stop(fast=not hurry)
        log.info("up.stopped", ms=round((time.monotonic() - begun) * 1000))

    def names(self) -> list[str]:
        """Return the names of everything that writes a log file."""
        drivers = range(1, self.settings.drivers + 1)
        return [
            *(["postgres"] if self.settings.database is None else []),
            "api",
            *("driver" if number == 1 else f"driver-{number}" for number in drivers),
            "worker",
        ]


def _load_store() -> None:
    """Load what takes long, while roles and database start."""
    import_module("weft.run.named_tenants")
    import_module("weft.plugins.runners.spawner")


def check_port(host: str, port: int) -> None:
    """Raise `PortInUse` if nobody can listen there now; port 0 asks for the address only."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise PortInUse(
                f"cannot listen on {host} port {port}",
                detail=f"{(error.strerror or str(error)).capitalize()}.",
                hint="Take a free port with `weft up --port 0`, or another one with `--port N`; "
                "WEFT_PORT and `port` in weft.toml say the same.",
            ) from error
