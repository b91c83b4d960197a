"""The document in which an operator describes pools."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.core.pools.pool import Option
from weft.wire.description import END, QueueName, says
from weft.wire.documents.users import Name

Amount = int | float | str
FlavourName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}" + END)]
Region = Annotated[str, Meta(min_length=1, max_length=256)]
OptionName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,62}" + END)]
Machines = Annotated[int, Meta(ge=0, le=10_000)]
AtLeastOne = Annotated[int, Meta(ge=1, le=10_000)]
Seconds = Annotated[float, Meta(ge=0, le=31_536_000)]
Share = Annotated[float, Meta(gt=0, le=1)]


class FlavourDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A kind of machine."""

    name: Annotated[FlavourName, says("Unique in the pool.", "small")]
    cpu: Annotated[Amount, says("What its worker gives to jobs.", 2, "500m", unit="cores")]
    memory: Annotated[Amount, says("The same; a bare number counts bytes.", "4Gi")]
    storage: Annotated[Amount, says("The same.", "10Gi")] = 0
    gpus: Annotated[Annotated[int, Meta(ge=0, le=1024)], says("GPUs of the machine.", 2)] = 0
    countables: Annotated[
        dict[str, Annotated[int, Meta(ge=1)]],
        says("Amounts that jobs may ask for by name.", {"matlab": 1}),
    ] = {}
    labels: Annotated[dict[str, str], says("Words that jobs may ask for.", {"rack": "12"})] = {}
    containers: Annotated[
        bool, says("Its worker runs jobs with `container` (its setting `containers`).")
    ] = False
    preemptible: Annotated[bool, says("Its owner may take it back at any time.")] = False
    walltime_s: Annotated[
        Annotated[int, Meta(ge=240, le=31_536_000)] | None,
        says(
            "How long its machine lives; jobs start there whose time limit ends before.",
            14_400,
            unit="seconds",
        ),
    ] = None
    price_per_hour: Annotated[
        Amount | None, says("While it exists; left out: as it was set last, or 0.", "0.05")
    ] = None


class PoolDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A pool, as an operator wants it."""

    name: Annotated[QueueName, says("Of the pool; it is made if there is none.", "burst")]
    provider: Annotated[
        str | None, says("Makes its machines; without it workers come by themselves.")
    ] = None
    tenant: Annotated[
        Name | None,
        says("The tenant whose queues may use it; without it all tenants share it.", "acme"),
    ] = None
    options: Annotated[dict[OptionName, Option], says("What the provider asks for.")] = {}
    min_workers: Annotated[Machines, says("Machines that stay although nothing runs.")] = 0
    max_workers: Annotated[Machines, says("Machines at most.", 10)] = 0
    idle_s: Annotated[
        Seconds, says("How long nothing runs on a machine before it goes.", 120, unit="seconds")
    ] = 300.0
    creates_per_round: Annotated[AtLeastOne, says("New machines in one round at most.")] = 10
    create_batch: Annotated[
        AtLeastOne, says("If machines are made, at least this many at a time.", 3)
    ] = 1
    deletes_per_round: Annotated[AtLeastOne, says("Machines that go in one round at most.")] = 10
    delete_share: Annotated[
        Share, says("Share of the idle machines that goes in one round; at least one.", 0.34)
    ] = 1.0
    window_s: Annotated[
        Seconds,
        says("Machines are made so that the jobs could start within this time.", unit="seconds"),
    ] = 150.0
    min_work_s: Annotated[
        Seconds,
        says(
            "If a machine is there that can run them, another one is made only for jobs that run "
            "for this long in all.",
            600,
            unit="seconds",
        ),
    ] = 0.0
    stale_s: Annotated[
        Seconds, says("A machine without a worker after this time goes.", unit="seconds")
    ] = 900.0
    regions: Annotated[tuple[Region, ...], says("In which machines may be made.", ["eu"])] = ()
    quota_cpu: Annotated[
        Amount | None, says("Cores of all machines together, at most.", 920, unit="cores")
    ] = None
    quota_share: Annotated[Share, says("The share of the quota that may be used.", 0.95)] = 1.0
    flavours: Annotated[
        list[FlavourDocument], says("In order: the first that holds a job is made for it.")
    ] = []


class PoolsDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`PUT /v1/pools`: all pools that are described. Others keep their workers."""

    pools: Annotated[list[PoolDocument], says("At least those that shall stay described.")]
    dry_run: Annotated[bool, says("Only return what would change.")] = False
