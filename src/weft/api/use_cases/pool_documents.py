"""Documents of pools, checked and in the units of account."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from weft.core.alike import alike
from weft.core.billing.rates import exact_price
from weft.core.billing.resources import parse_cpu_m, parse_mebibytes, parse_memory_mib
from weft.core.errors import InvalidValue, PackageMissing
from weft.core.pools import Flavour, Pool
from weft.core.problems import Problems, pointer_of
from weft.core.queues import DEFAULT
from weft.core.scheduling.offers import MACHINE, parse_labels, parse_offers
from weft.ports.provider import PROVIDER_PLUGINS, WrongOptions
from weft.wire.documents.pools import FlavourDocument, PoolDocument

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
