"""`weft token` and `weft whoami`: the tokens that stand for a user."""

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

from weft.cli.input.options import SHARED, App, Parameter, Shared, read_option
from weft.cli.terminal.screen import at, moment, note, one_line, text
from weft.core.errors import Invalid, TokenNotFound
from weft.core.text.durations import parse_seconds
from weft.wire.documents.tokens import Scope

if TYPE_CHECKING:
    from weft.client.api import Api

app = App(
    name="token",
    help="Make, list and revoke the tokens that stand for you.\n\n    weft token create ci",
)


@app.command
def create(
    name: str,
    /,
    *,
    scope: tuple[Scope, ...] = (),
    expires: str | None = None,
    pool: str | None = None,
    workers: str | None = None,
    shared: Shared = SHARED,
) -> None:
    """Make a token that stands for you, and print it, for the only time.

        weft token create dashboard --scope read --expires 30d
        weft token create rack4 --pool large --workers "node*" --expires 90d

    Programs send it as `Authorization: Bearer TOKEN`; weft's own commands and
    clients take it from WEFT_TOKEN, with WEFT_URL.

    Args:
        name: What it is for.
        scope: A right that it has; repeat it for several. Without it: all of yours.
        expires: How long it is good, as 12h or 30d. Without it: until it is revoked.
        pool: It is for workers outside (`weft worker --connect`), which join this pool.
        workers: The names that these may have, with * and ?. Without it: any.
    """
    lasting = partial(parse_seconds, days=3660)
    valid_s = None if expires is None else read_option("--expires", expires, lasting)
    found = shared.ask(
        lambda client: client.create_token(
            name,
            scopes=scope or (None if pool is None else ("work",)),
            valid_s=valid_s,
            pool=pool,
            workers=workers,
        )
    )
    if shared.as_json(found):
        return
    sys.stdout.write(f"{found['token']}\n")
    end = f"until {moment(found['expires_at'])}" if found["expires_at"] else "until it is revoked"
    note(f"token {found['token_id']} is good {end}; keep it, it is not shown again")


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List your tokens, the oldest first; their texts are kept nowhere.

    weft token ls
    """
    found = shared.ask(lambda client: client.list_tokens())
    shared.table(
        found,
        {
            "ID": "token_id",
            "Name": text("name", 40),
            "Scopes": lambda row: "all" if row["scopes"] is None else ", ".join(row["scopes"]),
            "Created": at("created_at"),
            "Expires": at("expires_at", "never"),
            "Last used": at("last_used_at", "-"),
        },
        right=("ID",),
        spare=("Created", "Last used"),
        empty="you have no tokens; `weft token create NAME` makes one",
    )


@app.command
def revoke(token: Annotated[str, Parameter(name="TOKEN")], /, *, shared: Shared = SHARED) -> None:
    """Revoke one of your tokens: it is refused from now on.

        weft token revoke ci

    Args:
        token: Its name or its number, as `weft token ls` shows them.
    """
    token_id = int(token) if token.isdecimal() else shared.ask(partial(_number_of, token))
    shared.ask(lambda client: client.revoke_token(token_id))
    shared.tell({"token_id": token_id}, f"token {token_id} is revoked")


async def _number_of(name: str, client: "Api") -> int:
    """Return the number of the only token of this name."""
    found = [row["token_id"] for row in await client.list_tokens() if row["name"] == name]
    if not found:
        raise TokenNotFound(f"you have no token {name!r}", hint="`weft token ls` shows yours.")
    if len(found) > 1:
        raise Invalid(
            f"{len(found)} of your tokens are named {name!r}",
            hint=f"Say the number of the one that you mean: {', '.join(map(str, found))}.",
        )
    return int(found[0])


def whoami(*, shared: Shared = SHARED) -> None:
    """Show who you are to the server, and what your token allows.

    weft whoami
    """
    found = shared.ask(lambda client: client.whoami())
    shared.facts(
        found,
        {
            "Tenant": one_line(found["tenant"], width=64),
            "User": one_line(found["user"], width=64),
            "Role": found["role"],
            "Rights": ", ".join(found["rights"]) or "none",
            "Token": found["token_id"] or "of another issuer",
        },
    )
