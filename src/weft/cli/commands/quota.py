"""`weft quota`: how much users and tenants may have at a time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from weft.cli.input.options import (
    SHARED,
    App,
    Flag,
    Parameter,
    Shared,
    WrongOption,
    need_one,
    read_option,
)
from weft.cli.terminal.screen import Document, one_line, print_table
from weft.core.billing.resources import parse_bytes, parse_cpu_m
from weft.core.text.amounts import size

app = App(
    name="quota",
    help="Limit what users and tenants may have at a time: jobs and batches that have not ended, "
    "running cores, and stored bytes.\n\n"
    "    weft quota set --default-user --jobs 10000 --cores 16",
)

WIDTH = 64


@dataclass(frozen=True)
class Measure:
    """One thing that quotas limit. What is used is in the field `n_` and its name."""

    header: str
    read: Callable[[str], float]
    text: Callable[[float], str]


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{text[:40]!r} is neither a number nor none")
    return int(text)


def _cores(text: str) -> float:
    return 0 if text == "0" else parse_cpu_m(text) / 1000


MEASURES: Final[Mapping[str, Measure]] = {
    "jobs": Measure("Jobs", _count, "{:,}".format),
    "batches": Measure("Batches", _count, "{:,}".format),
    "cores": Measure("Cores", _cores, "{:,g}".format),
    "bytes": Measure("Stored", parse_bytes, size),
}
"""By the field of a quota."""
HEADER = (
    "Quota",
    *(
        word
        for measure in MEASURES.values()
        for word in (measure.header, f"Max {measure.header.lower()}")
    ),
)


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List quotas, and what is used of them.

        weft quota ls

    Operators see those of the tenant, others their own.
    """
    found = shared.ask(lambda client: client.list_quotas())
    if not shared.as_json(found):
        print_table(HEADER, map(_row, found), right=HEADER[1:])


@app.command(name="set")
def set_one(
    *,
    tenant: str | None = None,
    user: str | None = None,
    default_user: Flag = False,
    jobs: str | None = None,
    batches: str | None = None,
    cores: str | None = None,
    stored: Annotated[str | None, Parameter(name="--bytes")] = None,
    shared: Shared = SHARED,
) -> None:
    """Set how much may be there at a time. Only for administrators.

        weft quota set --user bob --jobs 1000 --batches 20
        weft quota set --default-user --jobs none --cores 16 --bytes 10Gi

    A submission that would exceed it is refused; what is there goes on to its
    end. Jobs wait while the cores are used by others of the same user or tenant.
    What a user's own quota does not say, that of --default-user says.

    Args:
        tenant: All users of this tenant together; for administrators of the site.
        user: This user of your tenant.
        default_user: Each user of your tenant.
        jobs: Jobs that have not ended: a number, or none for any number.
        batches: Batches that have such jobs, or no jobs yet: a number, or none.
        cores: Cores that running jobs have, such as 16 or 0.5, or none.
        stored: Output, and specs and payloads that were sent, of batches that are there,
            such as 10Gi, or none.
    """
    need_one("quota", tenant=tenant, user=user, default_user=default_user)
    given = {"jobs": jobs, "batches": batches, "cores": cores, "bytes": stored}
    edit = {name: _most(name, text) for name, text in given.items() if text is not None}
    if not edit:
        options = ", ".join(f"--{name}" for name in MEASURES)
        raise WrongOption(
            "no quota is given", hint=f"Give one of {options}; `none` lifts a limit."
        )
    found = shared.ask(
        lambda client: (
            client.set_tenant_quota(tenant, edit)
            if tenant is not None
            else client.set_quota(user, edit)
        )
    )
    shared.tell(
        found,
        f"{_whose(found)}: {_told(found, 'jobs')} jobs and {_told(found, 'batches')} batches "
        f"that have not ended, {_told(found, 'cores')} running cores, "
        f"{'any amount' if found['bytes'] is None else _told(found, 'bytes')} stored",
    )


def _most(name: str, text: str) -> float | None:
    return None if text == "none" else read_option(f"--{name}", text, MEASURES[name].read)


def _told(found: Document, name: str) -> str:
    return (
        "any number of" if found[name] is None else f"at most {MEASURES[name].text(found[name])}"
    )


def _whose(found: Document) -> str:
    kind = "each user" if found["kind"] == "each_user" else found["kind"]
    return f"{kind} {one_line(found['name'], width=WIDTH)}" if found["name"] else str(kind)


def _row(found: Document) -> tuple[str, ...]:
    cells = (
        "-" if found[field] is None else measure.text(found[field])
        for name, measure in MEASURES.items()
        for field in (f"n_{name}", name)
    )
    return (_whose(found), *cells)
