"""`weft quota`: how much users and tenants may have submitted at a time."""

from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import App, Parameter

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.values import WrongOption, read_option
from weft.cli.terminal.plain import one_line
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_json, print_table

app = App(
    name="quota",
    help="Limit how many jobs and batches users and tenants may have that have not ended.\n\n"
    "    weft quota set --default-user --jobs 10000",
)

HEADER = ("Quota", "Jobs", "Of", "Batches", "Of")
WIDTH = 64
Document = Mapping[str, Any]


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> int:
    """List quotas, and how many jobs and batches have not ended.

        weft quota ls

    Operators see those of the tenant, others their own.

    Args:
        shared: Options of every command.
    """
    found = shared.ask(lambda client: client.list_quotas())
    if shared.json:
        print_json(found)
        return 0
    print_table(HEADER, map(_row, found), right=HEADER[1:])
    return 0


@app.command(name="set")
def set_one(
    *,
    tenant: str | None = None,
    user: str | None = None,
    default_user: Annotated[bool, Parameter(negative="")] = False,
    jobs: str | None = None,
    batches: str | None = None,
    shared: Shared = SHARED,
) -> int:
    """Set how many jobs and batches may be there that have not ended. Only for administrators.

        weft quota set --user bob --jobs 1000 --batches 20
        weft quota set --default-user --jobs none

    A submission that would exceed it is refused; what is there goes on to its
    end. What a user's own quota does not say, that of --default-user says.

    Args:
        tenant: All users of this tenant together; for administrators of the site.
        user: This user of your tenant.
        default_user: Each user of your tenant.
        jobs: Jobs that have not ended: a number, or none for any number.
        batches: Batches that have such jobs: a number, or none.
        shared: Options of every command.
    """
    if [tenant is not None, user is not None, default_user].count(True) != 1:
        raise WrongOption(
            "it is not clear whose quota is set",
            detail="Exactly one of --tenant, --user and --default-user says it.",
            hint="`weft quota set --help` shows examples.",
        )
    given = {"jobs": jobs, "batches": batches}
    edit = {
        name: read_option(f"--{name}", text, _most)
        for name, text in given.items()
        if text is not None
    }
    if not edit:
        raise WrongOption(
            "no quota is given", hint="Give --jobs, --batches or both; `none` lifts a limit."
        )
    found = shared.ask(
        lambda client: (
            client.set_tenant_quota(tenant, edit)
            if tenant is not None
            else client.set_quota(user, edit)
        )
    )
    if shared.json:
        print_json(found)
        return 0
    note(f"{_whose(found)}: at most {_told(found['jobs'])} jobs and "
         f"{_told(found['batches'])} batches that have not ended")  # fmt: skip
    return 0


def _most(text: str) -> int | None:
    if text == "none":
        return None
    if not text.isdecimal():
        raise ValueError(f"{text[:40]!r} is neither a number nor none")
    return int(text)


def _told(most: int | None) -> str:
    return "any number of" if most is None else f"{most:,}"


def _whose(found: Document) -> str:
    kind = "each user" if found["kind"] == "each_user" else found["kind"]
    return f"{kind} {one_line(found['name'], width=WIDTH)}" if found["name"] else str(kind)


def _row(found: Document) -> tuple[str, ...]:
    used = ("-" if found[name] is None else f"{found[name]:,}" for name in ("n_jobs", "n_batches"))
    most = ("-" if found[name] is None else f"{found[name]:,}" for name in ("jobs", "batches"))
    (n_jobs, n_batches), (jobs, batches) = used, most
    return (_whose(found), n_jobs, jobs, n_batches, batches)
