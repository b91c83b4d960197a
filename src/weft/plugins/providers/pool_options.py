"""What all providers do: check the options of pools, and tell a machine's worker its settings."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Final, TypeVar

from weft.core.billing.resources import MIB
from weft.core.errors import WeftError
from weft.core.pools.pool import Option
from weft.ports.provider import FoundMachine, ProviderError, WantedMachine
from weft.settings import variable_of

Found = TypeVar("Found")
SLOTS_MAX: Final = 1_000_000
"""As of a worker."""
TEXT_MAX: Final = 1000
PROGRAM: Final = "/usr/local/bin/weft"
"""Where weft is on a machine, unless the option `program` says so."""


def wrong_names(
    provider: str, options: Mapping[str, Option], known: Collection[str]
) -> dict[str, str]:
    """Return what is wrong with the names of options."""
    said = ", ".join(sorted(known))
    wrong = f"the provider {provider} has no such option; known: {said}"
    return dict.fromkeys(options.keys() - known, wrong)


def wrong_lines(options: Mapping[str, Option], names: Collection[str]) -> dict[str, str]:
    """Return what is wrong with options that are texts of one line."""
    return {
        name: f"expected a text of one line and at most {TEXT_MAX} characters"
        for name in options.keys() & names
        if not isinstance(text := options[name], str)
        or not 1 <= len(text) <= TEXT_MAX
        or not text.isprintable()
    }


def wrong_slots(options: Mapping[str, Option]) -> dict[str, str]:
    """Return what is wrong with the option `slots`."""
    slots = options.get("slots", 1)
    if isinstance(slots, bool) or not isinstance(slots, int) or not 1 <= slots <= SLOTS_MAX:
        return {"slots": f"expected a whole number from 1 to {SLOTS_MAX:,}"}
    return {}


def wrong_program(options: Mapping[str, Option], where: str) -> dict[str, str]:
    """Return what is wrong with the option `program`. `where`: as in "on the nodes"."""
    if str(options.get("program", "/")).startswith("/"):
        return {}
    return {"program": f"expected an absolute path {where}"}


def wrong_usual(
    provider: str,
    options: Mapping[str, Option],
    texts: Collection[str],
    where: str,
    *,
    more: Collection[str] = (),
) -> dict[str, str]:
    """Return what is wrong with options that are texts of one line, `slots`, or `more`."""
    return {
        **wrong_names(provider, options, {*texts, "slots", *more}),
        **wrong_lines(options, texts),
        **wrong_slots(options),
        **wrong_program(options, where),
    }


def raise_first(wrong: Mapping[str, str]) -> None:
    """Raise `ProviderError` for the first wrong option."""
    for name, why in sorted(wrong.items()):
        raise ProviderError(f"option {name}: {why}")


def address_for(machines: str, name: str, address: str | None) -> str:
    """Return the api's address, which a setting says. Raise `ProviderError`."""
    if address is None:
        raise ProviderError(
            f"the setting {name} is missing: {machines} must know the api's address"
        )
    return address


async def told_by(call: Awaitable[Found]) -> Found:
    """Return what a cluster answers. Raise `ProviderError` if it does not, or refuses."""
    try:
        return await call
    except WeftError as error:
        raise ProviderError(str(error), is_full="quota" in str(error).lower()) from None


async def until_begun(
    describe: Callable[[], Awaitable[FoundMachine | None]],
    is_known: Callable[[FoundMachine], bool],
    within_s: float,
    look_s: float,
    gone: str,
) -> FoundMachine:
    """Return a machine once its worker runs, what it waits for is known, or after a while. Raise
    `ProviderError` if it cannot begin, or was removed meanwhile: `gone` says so.
    """
    until = asyncio.get_running_loop().time() + within_s
    while True:
        machine = await describe()
        if machine is None:
            raise ProviderError(f"{gone} while it was being made")
        if machine.error:
            raise ProviderError(machine.error)
        if is_known(machine) or asyncio.get_running_loop().time() > until:
            return machine
        await asyncio.sleep(look_s)


def worker_variables(machine: WantedMachine, **more: str) -> dict[str, str]:
    """Return what each provider tells the worker of a machine, and `more` settings."""
    flavour = machine.flavour
    settings: Mapping[str, str] = {
        "pool": machine.pool,
        "worker_name": machine.name,
        "worker_cpu_m": str(flavour.cpu_m),
        "worker_memory_bytes": str(flavour.memory_mib * MIB),
        "worker_labels": ",".join(f"{name}={word}" for name, word in machine.labels.items()),
        "worker_offers": ",".join(f"{name}={n}" for name, n in flavour.countables.items()),
        **({"worker_walltime_s": str(flavour.walltime_s)} if flavour.walltime_s else {}),
        **({"worker_slots": str(machine.options["slots"])} if "slots" in machine.options else {}),
        **more,
    }
    return {variable_of(name): value for name, value in settings.items()}
