"""`weft store`: stores of objects, from which jobs get files and in which they leave them."""

from typing import Literal

from weft.cli.input.options import SHARED, App, Flag, Shared
from weft.cli.terminal.screen import at, moment, note, one_line, text
from weft.client.http.calls import Document
from weft.core.errors import Invalid

app = App(
    name="store",
    help="Add, list, show, test and remove stores of objects, which jobs name in inputs and "
    "outputs.\n\n"
    "    weft store add results s3://results/lab-7 --access write --secret results-key",
)


class CredentialsWrong(Invalid, code="CLI.STORE_CREDENTIALS_WRONG"):
    """Not exactly one kind of credentials was named."""


@app.command
def add(
    name: str,
    url: str,
    /,
    *,
    access: Literal["read", "write"],
    secret: str | None = None,
    env: Flag = False,
    instance_role: Flag = False,
    endpoint: str | None = None,
    region: str | None = None,
    shared: Shared = SHARED,
) -> None:
    """Set a store, in place of one of the same name. Only for operators.

        weft store add genomes s3://genomes/hg38 --access read --secret genomes-key

    Args:
        name: By which jobs name it.
        url: The bucket, and the beginning of all keys in it.
        access: write: jobs leave files there, too.
        secret: The secret of yours that opens it.
        env: The environment of the worker opens it.
        instance_role: The role of the worker's machine opens it.
        endpoint: The server, if it is not that of AWS.
        region: The region of the bucket.
    """
    if (secret is not None) + env + instance_role != 1:
        raise CredentialsWrong(
            "a store is opened in one way",
            detail=f"{(secret is not None) + env + instance_role} were named.",
            hint="Give one of --secret NAME, --env and --instance-role.",
        )
    credentials = "env" if env else "instance-role" if instance_role else "secret"
    found = shared.ask(
        lambda client: client.add_store(
            name,
            url,
            access=access,
            secret=secret,
            credentials=credentials,
            endpoint=endpoint,
            region=region,
        )
    )
    shared.tell(found, f"store {found['name']} is {found['url']}")


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List the stores of the tenant.

    weft store ls
    """
    found = shared.ask(lambda client: client.list_stores())
    shared.table(
        found,
        {
            "Name": "name",
            "URL": text("url", 60),
            "Access": "access",
            "Opened by": _opened_by,
            "Set by": text("set_by", 32),
            "Set": at("set_at"),
        },
        spare=("Set by", "Set"),
        empty="no stores; `weft store add NAME URL --access read` adds one",
    )


@app.command
def show(name: str, /, *, shared: Shared = SHARED) -> None:
    """Show a store.

        weft store show genomes

    Args:
        name: Its name, as `weft store ls` shows it.
    """
    found = shared.ask(lambda client: client.get_store(name))
    if shared.as_json(found):
        return
    print(f"{found['name']}  {one_line(found['url'], width=200)}")
    where = found["endpoint"] or "AWS"
    print(f"at {one_line(where, width=200)}, region {found['region'] or 'us-east-1'}")
    print(f"to {found['access']}, opened by {_opened_by(found)}")
    print(f"set by {one_line(found['set_by'] or '', width=64)} {moment(found['set_at'])}")


@app.command(name="test")
def try_store(name: str, /, *, shared: Shared = SHARED) -> int:
    """Try a store as a job would, from the host of the api: write, read and remove a small
    object; in one that is only read, ask for an object. Exit with 1 if something fails. Only for
    operators.

        weft store test results

    Args:
        name: Its name, as `weft store ls` shows it.
    """
    found = shared.ask(lambda client: client.test_store(name))
    if not shared.as_json(found):
        for one in found["steps"]:
            problem = one["problem"]
            print(
                f"{one['step']:<6}  {'works' if problem is None else one_line(problem, width=200)}"
            )
            if one["hint"] is not None:
                note(one["hint"])
    return 0 if found["works"] else 1


@app.command(name="rm")
def remove(name: str, /, *, shared: Shared = SHARED) -> None:
    """Remove a store: no job can name it any more. Its objects stay. Only for operators.

        weft store rm genomes

    Args:
        name: Its name, as `weft store ls` shows it.
    """
    shared.ask(lambda client: client.remove_store(name))
    shared.tell({"name": name}, f"store {name} is removed")


def _opened_by(store: Document) -> str:
    if store["secret"] is None:
        return str(store["credentials"])
    return f"secret {store['secret']}" + ("" if store["is_ready"] else " (removed)")
