"""The documents about tokens."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.description import says
from weft.wire.documents.logins import CODE

Scope = Literal["read", "write", "exec", "operate", "manage", "administer", "work"]
VALID_S_MAX = 10 * 366 * 86_400


class TokenDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/tokens`: what the token is for."""

    name: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256, pattern=r"^[^\x00]+$")],
        says("What it is for.", "ci"),
    ]
    scopes: Annotated[
        Annotated[list[Scope], Meta(min_length=1, max_length=7)] | None,
        says("The only rights that it has; null: all of yours.", ["read"]),
    ] = None
    valid_s: Annotated[
        Annotated[float, Meta(gt=0, le=VALID_S_MAX)] | None,
        says("How long it is good; null: until it is revoked.", 86400),
    ] = None
    pool: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256, pattern=r"^[^\x00]+$")] | None,
        says("It is for workers outside, which join this pool; its scope is `work`.", "large"),
    ] = None
    workers: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256, pattern=r"^[^\x00]+$")] | None,
        says("The names that these workers may have, with * and ?; null: any.", "node*"),
    ] = None
    once: Annotated[
        bool,
        says(
            "It is an invitation: a worker of the pool gets a token of its own for it, once, and "
            "while it is good (a day at most); `weft worker --join` does."
        ),
    ] = False


class JoinDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/worker-link/join`: exchange an invitation for the token of a worker."""

    invitation: Annotated[str, CODE]
    worker: Annotated[str, Meta(min_length=1, max_length=256, pattern=r"^[^\x00]+$")]
