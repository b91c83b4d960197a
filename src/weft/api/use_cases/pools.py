"""Pools: list, show, and save what an operator wants of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from weft.api.calls.call import call
from weft.api.calls.path_ids import PoolName
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.alike import alike
from weft.core.billing.rates import exact_price
from weft.core.billing.resources import parse_cpu_m, parse_mebibytes, parse_memory_mib
from weft.core.errors import InvalidValue, PackageMissing, PoolNotFound
from weft.core.pools import Flavour, Pool, plan_changes
from weft.core.problems import Problems, pointer_of
from weft.core.queues import DEFAULT
from weft.core.scheduling.fair_share import UserWork, fair_shares
from weft.core.scheduling.offers import MACHINE, parse_labels, parse_offers
from weft.ports.provider import PROVIDER_PLUGINS, WrongOptions
from weft.ports.store import Caller, Row, ShareKey
from weft.submission.services import Answer
from weft.telemetry.log import log
from weft.wire.answers.pools import PoolAnswer, PoolChange, PoolCost, PoolsSaved, ShownPool
from weft.wire.documents.pools import FlavourDocument, PoolDocument, PoolsDocument

MACHINES_MAX = 10_000
CHANGES_MAX = 1_000
COST_DAYS_MAX = 400
SHARES_MAX = 1_000
"""So many users are read; of more it is not told what would be fair."""
POOLS_NAMED = 20
MCPU = 1000


@call("GET /v1/pools", Right.READ, page=PoolAnswer)
async def list_pools(services: Services, caller: Caller) -> Sequence[Row]:
    """Return the pools by name: those of the tenant, and those that all tenants share; what is
    described, and their machines by state.
    """
    return await services.store.list_pools(caller)


@call("GET /v1/pools/{p}", Right.READ, ShownPool)
async def get_pool(
    services: Services, caller: Caller, name: PoolName, *, machines_max: int = MACHINES_MAX
) -> Answer:
    """Return a pool with its machines. Raise `PoolNotFound`."""
    row = await _find(services, caller, name)
    machines = await services.store.list_machines(caller, name, limit=machines_max)
    return {**row, "machine_list": machines}


@call("GET /v1/pools/{p}/log", Right.READ, page=PoolChange)
async def list_pool_changes(
    services: Services, caller: Caller, name: PoolName, *, limit: int = CHANGES_MAX
) -> Sequence[Row]:
    """Return what was decided about a pool, and why, newest first; the newest 1,000 are kept.
    Raise `PoolNotFound`.
    """
    await _find(services, caller, name)
    return await services.store.list_pool_changes(caller, name, limit=limit)


@dataclass(frozen=True)
class SharesPage:
    """Some of the users with work in a pool."""

    rows: Sequence[Row]
    n_more: int
    """How many come after them."""
    has_uncounted: bool
    """Whether there are more than those."""
    is_crowded: bool
    """Whether too many users have work there to tell what would be fair."""
    next: ShareKey | None
    """After whom the next page begins; None: this is the last one."""


async def list_shares(
    services: Services, caller: Caller, name: str, *, limit: int, after: ShareKey | None = None
) -> SharesPage:
    """Return what each user runs in a pool, what of theirs is ready there, and what they would run
    if what runs now were shared fairly, unless there are too many to tell; those whom the caller
    does not see count, and are left out. Raise `PoolNotFound`.
    """
    await _find(services, caller, name)
    rows = await services.store.list_shares(caller, name, limit=SHARES_MAX + 1)
    is_crowded = len(rows) > SHARES_MAX
    if not is_crowded:
        rows = _after(_seen(_with_fair_shares(rows)), after)
    elif not caller.sees_tenant:
        rows = await services.store.list_shares(caller, name, limit=1, only_own=True)
    else:
        rows = await services.store.list_shares(
            caller, name, limit=SHARES_MAX + 1, after=after, own_tenant=True
        )
    seen = _seen(rows)
    page, last = seen[:limit], None
    if len(seen) > limit:
        last = page[-1]
    elif len(rows) > SHARES_MAX:
        last = rows[-1]
    return SharesPage(
        [_share_of(row) for row in page],
        len(seen) - len(page),
        len(rows) > SHARES_MAX,
        is_crowded,
        None if last is None else _key_of(last),
    )


def _seen(rows: Sequence[Row]) -> Sequence[Row]:
    return [row for row in rows if row["user"] is not None]


def _with_fair_shares(rows: Sequence[Row]) -> Sequence[Row]:
    works = [UserWork(0, row["running_m"] + row["ready_m"], row["weight"]) for row in rows]
    fair = fair_shares(works, sum(row["running_m"] for row in rows))
    return [{**row, "fair_m": share} for row, share in zip(rows, fair, strict=True)]


def _after(rows: Sequence[Row], key: ShareKey | None) -> Sequence[Row]:
    return rows if key is None else [row for row in rows if _order(_key_of(row)) > _order(key)]


def _key_of(row: Row) -> ShareKey:
    return ShareKey(row["load"], row["user_id"])


def _order(key: ShareKey) -> tuple[bool, float, int]:
    """Return the place of a user: those who only run jobs have no load, and come last."""
    return key.load is None, key.load or 0.0, key.user_id


def _share_of(row: Row) -> Row:
    fair = row.get("fair_m")
    return {
        "user": row["user"],
        "weight": row["weight"],
        "n_ready": row["n_ready"],
        "ready_cpu": row["ready_m"] / MCPU,
        "running_cpu": row["running_m"] / MCPU,
        "fair_cpu": None if fair is None else fair / MCPU,
    }


@call("GET /v1/pools/{p}/cost", Right.READ, page=PoolCost)
async def list_pool_costs(
    services: Services, caller: Caller, name: PoolName, *, days: int = COST_DAYS_MAX
) -> Sequence[Row]:
    """Return what the machines of a pool cost by date (UTC) and flavour, and what of it jobs used,
    newest first; the newest 400 dates. Raise `PoolNotFound`.
    """
    await _find(services, caller, name)
    return await services.store.list_pool_costs(caller, name, days=days)


@call("PUT /v1/pools", Right.ADMINISTER, PoolsSaved, marks={"refuses": (409,)})
async def save_pools(services: Services, caller: Caller, document: PoolsDocument) -> Answer:
    """Make these the pools that are described; return what changes. Others keep their workers; a
    pool with machines has to stay described. Only for administrators.
    """
    rows = await services.store.list_pools(caller)
    now = [msgspec.convert(row["plan"], Pool) for row in rows if row["plan"] is not None]
    problems = Problems()
    pools = pools_of(document.pools, problems, now)
    problems.raise_any()
    changes = plan_changes(now, pools)
    if changes and not document.dry_run:
        await services.store.save_pools(caller, pools)
        log.info("pools.saved", user=caller.user_name, changed=[change.pool for change in changes])
    return {
        "changes": msgspec.to_builtins(changes),
        "surplus": _surplus(rows, pools),
        "dry_run": document.dry_run,
    }


def _surplus(rows: Sequence[Row], pools: Sequence[Pool]) -> list[Answer]:
    """Return the pools that have more machines than they may have from now on."""
    most = {pool.name: pool.max_workers for pool in pools}
    found = []
    for row in rows:
        count = sum(n for state, n in row["machines"].items() if state != "deleting")
        if row["pool"] in most and count > most[row["pool"]]:
            found.append(
                {"pool": row["pool"], "n_machines": count, "max_workers": most[row["pool"]]}
            )
    return found


async def _find(services: Services, caller: Caller, name: str) -> Row:
    for row in await services.store.list_pools(caller, name=name):
        return row
    rows = await services.store.list_pools(caller, limit=POOLS_NAMED)
    raise PoolNotFound(
        f'pool "{name}" does not exist',
        detail=f"There are: {', '.join(row['pool'] for row in rows)[:500]}.",
        hint="List them with `weft pool ls`.",
    )


POOLS_MAX = 100
FLAVOURS_MAX = 50


@cache
def installed_providers() -> tuple[str, ...]:
    """Return the names of all providers; the driver loads them, the api only knows their names."""
    return PROVIDER_PLUGINS.names()


@cache
def _wrong_options(provider: str) -> WrongOptions | None:
    """Return what checks the options of an installed provider; None: only the provider will."""
    try:
        return getattr(PROVIDER_PLUGINS.load(provider), "wrong_options", None)
    except PackageMissing:  # what it needs is installed where the driver runs
        return None


def pools_of(
    documents: Sequence[PoolDocument], problems: Problems, now: Sequence[Pool] = ()
) -> list[Pool]:
    """Return the pools, and note everything that is wrong with them. Prices that are left out stay
    as they are `now`.
    """
    prices = {(one.name, kind.name): kind.price_per_hour for one in now for kind in one.flavours}
    if len(documents) > POOLS_MAX:
        problems.add(InvalidValue, "/pools", f"{len(documents)} pools, at most {POOLS_MAX}")
        return []
    names: set[str] = set()
    found = []
    for index, one in enumerate(documents):
        at = pointer_of("pools", index)
        if one.name in names:
            problems.add(InvalidValue, f"{at}/name", f"{one.name} stands there twice")
        names.add(one.name)
        _check(one, at, problems)
        found.append(_pool_of(one, prices, at, problems))
    return found


def _check(document: PoolDocument, at: str, problems: Problems) -> None:
    if document.min_workers > document.max_workers:
        message = f"more than max_workers, which is {document.max_workers}"
        problems.add(InvalidValue, f"{at}/min_workers", message)
    if document.provider is not None and document.provider not in installed_providers():
        message = f"there is no such provider; known: {', '.join(installed_providers())}"
        problems.add(InvalidValue, f"{at}/provider", message)
    elif document.provider is not None and (check := _wrong_options(document.provider)):
        for name, why in sorted(check(document.options).items()):
            problems.add(InvalidValue, f"{at}/options/{name}", why)
    if document.tenant is not None and document.name == DEFAULT:
        problems.add(InvalidValue, f"{at}/tenant", f"all tenants share the pool {DEFAULT!r}")
    if document.max_workers and document.provider is None:
        problems.add(InvalidValue, f"{at}/max_workers", "name a provider that makes machines")
    if document.max_workers and not document.flavours:
        problems.add(InvalidValue, f"{at}/max_workers", "describe at least one flavour")
    if document.create_batch > document.creates_per_round:
        message = f"more than creates_per_round, which is {document.creates_per_round}"
        problems.add(InvalidValue, f"{at}/create_batch", message)
    if len(set(document.regions)) < len(document.regions):
        problems.add(InvalidValue, f"{at}/regions", "name each once")
    if len(document.flavours) > FLAVOURS_MAX:
        message = f"{len(document.flavours)} flavours, at most {FLAVOURS_MAX}"
        problems.add(InvalidValue, f"{at}/flavours", message)


def _pool_of(
    document: PoolDocument, prices: Mapping[tuple[str, str], str], at: str, problems: Problems
) -> Pool:
    names: set[str] = set()
    flavours = []
    for index, flavour in enumerate(document.flavours[:FLAVOURS_MAX]):
        where = f"{at}/flavours/{index}"
        if flavour.name in names:
            problems.add(InvalidValue, f"{where}/name", f"{flavour.name} stands there twice")
        names.add(flavour.name)
        before = prices.get((document.name, flavour.name), "0")
        flavours.append(_flavour_of(flavour, before, where, problems))
    quota_cpu_m = None
    if document.quota_cpu is not None:
        quota_cpu_m = _read(document.quota_cpu, parse_cpu_m, f"{at}/quota_cpu", problems)
    return alike(Pool, document, quota_cpu_m=quota_cpu_m, flavours=tuple(flavours))


def _flavour_of(document: FlavourDocument, price: str, at: str, problems: Problems) -> Flavour:
    for name, word in document.labels.items():
        _read(f"{name}={word}", parse_labels, f"{at}/labels{pointer_of(name)}", problems)
    for kind in ("labels", "countables"):
        if MACHINE in getattr(document, kind):
            problems.add(InvalidValue, f"{at}/{kind}/{MACHINE}", "this name is reserved")
    for name, count in document.countables.items():
        where = f"{at}/countables{pointer_of(name)}"
        _read(f"{name}={count}", parse_offers, where, problems)
        if name == "gpu":
            problems.add(InvalidValue, where, "the field gpus says this")
        if name in document.labels:
            problems.add(InvalidValue, where, "this is a label, too; a worker offers a name once")
    if document.price_per_hour is not None:
        price = _read(document.price_per_hour, exact_price, f"{at}/price_per_hour", problems)
    return alike(
        Flavour,
        document,
        cpu_m=_read(document.cpu, parse_cpu_m, f"{at}/cpu", problems),
        memory_mib=_read(document.memory, parse_memory_mib, f"{at}/memory", problems),
        storage_mib=_read(document.storage, parse_mebibytes, f"{at}/storage", problems),
        walltime_s=document.walltime_s or 0,
        price_per_hour=price,
    )


def _read(value: object, read: Callable[[Any], Any], at: str, problems: Problems) -> Any:  # noqa: ANN401 (what `read` returns)
    try:
        return read(value)
    except ValueError as error:
        problems.add(InvalidValue, at, str(error))
        return 1
