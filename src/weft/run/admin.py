"""Calls for the owner of the database: audit, migrations, status. Used by the command line."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from weft.core.billing.rates import kept_prices, machine_prices
from weft.core.errors import Invalid, StoreUnavailable, Unavailable
from weft.run.home import Home
from weft.run.host.worker_name import user_name
from weft.run.login import check_dsn, with_login
from weft.settings import Settings
from weft.store import OWNER, Admin, AuditFinding, CorrectedRates, open_admin
from weft.store.embedded import new_password
from weft.telemetry.log import configure

Answer = TypeVar("Answer")
Question = Callable[[Admin], Awaitable[Answer]]


class NoDatabase(Unavailable, code="CLI.NO_DATABASE"):
    """This home has no database."""


class NotAsOwner(Invalid, code="CLI.NOT_AS_OWNER"):
    """A command of the owner of the database was given the token or the address of a user."""

    advice = (
        "On the host of the server, run it without them: `env -u WEFT_TOKEN -u WEFT_URL weft …`. "
        "Elsewhere, ask whoever runs the server; `weft system` shows the last audit, "
        "`weft billing rates` the prices."
    )


def run_audit(settings: Settings) -> Sequence[AuditFinding]:
    """Recompute all that is derived from the base rows; return every check with what contradicts
    it.

    A check without rows holds; the database keeps which ones do not (`weft system`). Raises
    `Unavailable` if the database does not answer.
    """

    async def audit(admin: Admin) -> Sequence[AuditFinding]:
        begun = time.monotonic()
        findings = await admin.audit()
        took_ms = round(1000 * (time.monotonic() - begun))
        await admin.record_audit(findings, took_ms=took_ms, actor=_actor())
        return findings

    return ask_owner(settings, audit)


def run_add_rates(
    settings: Settings, prices: Mapping[str, str | None], valid_from: datetime | None
) -> int:
    """Set prices, per core, GiB and GPU hour; return their version.

    Raise `InvalidPrice`, `RatesFixed`.
    """
    kept = kept_prices(prices)
    return _act(
        settings, "set_rates", "billing set-rates", lambda admin: admin.add_rates(kept, valid_from)
    )


def run_set_machine_prices(settings: Settings, texts: Sequence[str]) -> int:
    """Set what machines cost per hour, as `burst/small=0.05`; return how many prices changed.

    Raise `InvalidPrice`, `FlavourNotFound`.
    """
    prices = machine_prices(texts)
    return _act(
        settings,
        "set_rates",
        "billing set-rates",
        lambda admin: admin.set_machine_prices(prices, actor=_actor()),
    )


def run_correct_rates(
    settings: Settings,
    version: int,
    prices: Mapping[str, str | None],
    valid_from: datetime | None,
    *,
    reason: str | None,
    dry_run: bool,
) -> CorrectedRates:
    """Correct prices of a version; return what it changes. With `dry_run` nothing is kept.

    Raise `InvalidPrice`, `RatesNotFound`, `RatesFixed`.
    """
    kept = kept_prices(prices)

    def correct(admin: Admin) -> Awaitable[CorrectedRates]:
        return admin.correct_rates(
            version, kept, valid_from, actor=user_name(), reason=reason, dry_run=dry_run
        )

    if dry_run:
        return ask_owner(settings, correct)
    return _act(settings, "correct_rates", f"billing correct-rates {version}", correct)


def run_add_view_login(
    settings: Settings, login: str, *, tenant: str, timeout_s: int, connections: int
) -> str:
    """Make a login that reads the views of one tenant; return its DSN, with its password.

    Raise `TenantNotFound`, `ViewLoginTaken`, `RightsMissing`.
    """
    password = new_password()
    _act(
        settings,
        "add_view_login",
        f"db views add {login}",
        lambda admin: admin.add_view_login(
            login, tenant=tenant, password=password, timeout_s=timeout_s, connections=connections
        ),
    )
    return with_login(admin_dsn(settings), login, password)


def run_remove_view_login(settings: Settings, login: str) -> None:
    """End a login of a dashboard. Raise `ViewLoginNotFound`."""
    _act(
        settings,
        "remove_view_login",
        f"db views rm {login}",
        lambda admin: admin.remove_view_login(login),
    )


def admin_dsn(settings: Settings) -> str:
    """Return the owner's login. Raise `NoDatabase` in a home that was never started."""
    if settings.database is not None:
        return check_dsn(settings.database)
    dsn = Home(settings.home).secrets().get("admin")
    if dsn is None:
        raise NoDatabase(
            "this home has no database",
            detail=f"No server was started in {settings.home}.",
            hint="Start one with `weft up`, or name another home with --home.",
        )
    return dsn


def _actor() -> str:
    return f"{OWNER} ({user_name()})"


def _act(
    settings: Settings, action: str, command: str, change: Callable[[Admin], Awaitable[Answer]]
) -> Answer:
    """Change something, with an entry in the trail."""

    async def acted(admin: Admin) -> Answer:
        async with admin.recorded(action, f"weft {command}", _actor()):
            return await change(admin)

    return ask_owner(settings, acted)


def _check_owner(settings: Settings) -> None:
    """Raise `NotAsOwner` if somebody works as a user: they would get rights that they lack."""
    given = [f"WEFT_{name.upper()}" for name in ("token", "url") if getattr(settings, name)]
    if given:
        raise NotAsOwner(
            "this command works as the owner of the database, not as a user",
            detail=f"It would not heed {' and '.join(given)} (or weft.toml), which say whose "
            "rights to use, and where.",
        )


def ask_owner(settings: Settings, question: Question[Answer]) -> Answer:
    """Return what the owner of the database is answered. Raise `NotAsOwner`, `NoDatabase`."""
    _check_owner(settings)
    configure(level="warning", format="auto", role="cli")

    async def ask() -> Answer:
        async with open_admin(admin_dsn(settings)) as admin:
            return await question(admin)

    try:
        return asyncio.run(ask())
    except StoreUnavailable as error:
        if settings.database is None and isinstance(error.__cause__, FileNotFoundError):
            error.hint = "weft is not running: `weft up` starts it, and migrates to this release."
        raise
