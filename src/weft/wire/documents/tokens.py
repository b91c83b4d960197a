"""The document in which a caller asks for a token."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.description import says

Scope = Literal["read", "write", "exec", "operate", "manage", "administer", "work"]
VALID_S_MAX = 10 * 366 * 86_400


class TokenDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/tokens`: what the token is for."""

    name: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256, pattern=r"^[^\x00]+$")],
        says("What it is for.", "ci"),
    ]
    scopes: Annotated[
        Annotated[list[Scope], Meta(min_length=1, max_length=6)] | None,
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
