"""What a worker offers beside cpu and memory, and whether it can ever serve what a job asks.

Numbers are amounts, which a job takes while it runs; words have to be offered. SQL says the same
(`weft._serves`), and a test compares the two.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, cast

from msgspec import Meta

from weft.core.bounds import Name
from weft.core.scheduling import time_limits

AMOUNT_MAX: Final = 1_000_000_000
Offer = (
    Annotated[int, Meta(ge=0, le=AMOUNT_MAX)]
    | Name
    | Annotated[Sequence[Name], Meta(max_length=1000)]
)
Offers = Annotated[Mapping[Name, Offer], Meta(max_length=1000)]
Ask = int | str | Sequence[str]
"""Several words: one of them."""
PREEMPTIBLE: Final = "preemptible"
"""Offered by workers whose machine may be taken back; asked for by jobs that bear that."""
MACHINE: Final = "machine"
"""Offered by workers whose machine is made for one job; asked for, with the name of a flavour, by
jobs that want such.
"""
TRANSPORT: Final = "transport"
"""Asked for by jobs of a queue that travels over a transport. No worker offers it, so no claim
sees these jobs: they come by messages, to workers that offer `CONSUMES`, with its name.
"""
CONSUMES: Final = "consumes"
FOREIGN: Final = "foreign"
"""Asked for besides by jobs that programs run which are not weft's: no worker consumes them."""
POSTGRES: Final = "postgres"
"""The transport of a queue whose jobs workers claim from the database."""
RESERVED: Final = frozenset(
    {"cpu", "memory", "storage", "storage_mib", "executor", "pool", "queue", "slots"}
) | {time_limits.ASK, TRANSPORT, CONSUMES, FOREIGN}
"""Names that workers offer by themselves, and that of the class of time limits."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_.-]{0,62}")
_LABEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_GPU: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,62}")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")


def parse_offers(text: str) -> dict[str, Offer]:
    """Read `gpu=2,matlab=3,region=eu|us`. Raise `ValueError` for anything else."""
    found: dict[str, Offer] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not _NAME.fullmatch(name) or name in RESERVED or name in found:
            raise ValueError(f"{name!r} is not the name of something that a worker can offer once")
        words = value.split("|")
        if value.isascii() and value.isdigit() and int(value) <= AMOUNT_MAX:
            found[name] = int(value)
        elif not all(_WORD.fullmatch(word) for word in words):
            raise ValueError(f"{part!r} is neither an amount such as gpu=2 nor a word")
        else:
            found[name] = words
    return found


def wrong_licence_name(name: str) -> str | None:
    """Return why a licence cannot have this name; None: it can."""
    if name in RESERVED or name == "gpu":
        return f"Jobs ask their worker for {name}."
    if not _NAME.fullmatch(name):
        return (
            "It has up to 63 characters: small letters, digits, `_`, `.` and `-`, a letter first."
        )
    return None


def parse_gpus(text: str) -> list[str] | None:
    """Read `0,1`, or `none`: no GPU; `auto`: None. Raise `ValueError` for anything else."""
    if text.strip() in ("auto", "none"):
        return None if text.strip() == "auto" else []
    ids = [part.strip() for part in text.split(",")]
    if wrong := [one for one in ids if not _GPU.fullmatch(one)]:
        raise ValueError(f"{wrong[0]!r} is not the id of a GPU such as 0, nor auto or none")
    if twice := {one for one in ids if ids.count(one) > 1}:
        raise ValueError(f"the GPU {min(twice)!r} is named twice")
    return ids


def parse_queues(text: str) -> list[str]:
    """Read `short,large`. Raise `ValueError` for what no queue is named."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    if wrong := [name for name in names if not _WORD.fullmatch(name)]:
        raise ValueError(f"{wrong[0]!r} is not the name of a queue")
    return names


def parse_labels(text: str) -> dict[str, list[str]]:
    """Read `rack=12,zone=b`: words, also those that begin with a digit; a repeated name has
    several. Raise `ValueError` for anything else.
    """
    found: dict[str, list[str]] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, word = (piece.strip() for piece in part.partition("="))
        if not _NAME.fullmatch(name) or name in RESERVED or name == "gpu":
            raise ValueError(f"{name!r} cannot be the name of a label")
        if not _LABEL.fullmatch(word):
            raise ValueError(f"{part!r} is not a label such as rack=12")
        found.setdefault(name, []).append(word)
    return found


def serves(offers: Mapping[str, Offer], asks: Mapping[str, Ask]) -> bool:
    """Say whether a worker that offers this can ever run a job that asks this.

    A worker that names no queues serves all of its pool; otherwise a job that names no queue asks
    for the default one. A worker that may be taken back serves only jobs that bear it, and one
    whose machine is made for one job only jobs that ask for such. A worker whose machine ends
    serves only jobs whose time limit ends before; others do not look at it.
    """
    queue = asks.get("queue", "default")
    return (
        ("queue" not in offers or _serves_one(offers["queue"], queue))
        and (PREEMPTIBLE not in offers or PREEMPTIBLE in asks)
        and (MACHINE not in offers or MACHINE in asks)
        and (
            time_limits.ASK not in offers
            or time_limits.ends_within(
                asks.get(time_limits.ASK), cast("int", offers[time_limits.ASK])
            )
        )
        and all(
            _serves_one(offers.get(name), ask)
            for name, ask in asks.items()
            if name not in {"queue", PREEMPTIBLE, time_limits.ASK}
        )
    )


def _serves_one(offer: Offer | None, ask: Ask) -> bool:
    if not isinstance(ask, int | str):
        return any(_serves_one(offer, one) for one in ask)
    if isinstance(offer, int) or isinstance(ask, int):
        return isinstance(offer, int) and isinstance(ask, int) and offer >= ask
    if isinstance(offer, str):
        return offer == ask
    return offer is not None and ask in offer
