"""The documents about quotas."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.wire.description import says

Most = Annotated[int, Meta(ge=0, le=10**15)]
Cores = Annotated[float, Meta(ge=0, le=1_000_000)]
Used = Annotated[int | None, Meta(description="null: not for this caller, or not asked for")]


class QuotaEdit(Struct, forbid_unknown_fields=True):
    """The changes of a quota."""

    jobs: Annotated[
        Most | UnsetType | None,
        says("How many jobs may be there that have not ended; null: any number.", 10_000),
    ] = UNSET
    batches: Annotated[
        Most | UnsetType | None,
        says("How many batches may have such jobs, or none yet; null: any number.", 100),
    ] = UNSET
    cores: Annotated[
        Cores | UnsetType | None,
        says(
            "How many cores the jobs that run at the same time may have; null: any number.",
            16,
            0.5,
        ),
    ] = UNSET
    bytes: Annotated[
        Most | UnsetType | None,
        says(
            "How much may be stored: output of jobs, specs and payloads of batches that are "
            "there, those that were sent and not committed included; null: any number.",
            10 * 2**30,
            unit="bytes",
        ),
    ] = UNSET


class Quota(Struct, kw_only=True):
    """How much there may be at a time, and how much there is."""

    kind: Annotated[
        Literal["tenant", "each_user", "user"],
        Meta(
            description="tenant: all users together; each_user: users as far as their own quota "
            "says nothing; user: what counts for this one"
        ),
    ]
    name: Annotated[str | None, Meta(description="of the tenant or the user")]
    jobs: Annotated[int | None, Meta(description="null: any number")]
    batches: Annotated[int | None, Meta(description="null: any number")]
    cores: Annotated[float | None, Meta(description="null: any number")]
    bytes: Annotated[int | None, Meta(description="null: any number")]
    n_jobs: Used
    n_batches: Annotated[
        int | None,
        Meta(
            description="that have such jobs, or none yet; null: not for this caller, or not "
            "asked for"
        ),
    ]
    n_cores: Annotated[
        float | None,
        Meta(description="of jobs that run; null: not for this caller, or not asked for"),
    ]
    n_bytes: Annotated[
        int | None,
        Meta(
            description="stored, with what was sent and is not committed; null: not for this "
            "caller, or not asked for"
        ),
    ]
