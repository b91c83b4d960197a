"""What a job says about the engine that runs it."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import END, says
from weft.wire.documents.containers import ContainerDocument

Choice = Annotated[
    str, Meta(max_length=128, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:&|()*=+,\[\]-]*" + END)
]


class EngineOptions(Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """What a job chooses of its engine; the gateway and the tenant may forbid it."""

    partition: Annotated[Choice | None, says("The partition in which it waits.", "long")] = None
    account: Annotated[Choice | None, says("The account that is charged.", "climate")] = None
    qos: Annotated[Choice | None, says("The quality of service.", "high")] = None
    constraint: Annotated[Choice | None, says("Features that its node has.", "haswell")] = None
    gres: Annotated[Choice | None, says("Generic resources.", "tape:1")] = None
    reservation: Annotated[Choice | None, says("The reservation in which it runs.", "wed")] = None
    nodes: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)],
        says("On how many machines at once it runs; its cores and memory are those of all.", 4),
    ] = 1

    @property
    def given(self) -> dict[str, str]:
        """Return what it chooses that may be forbidden, by name."""
        names = (name for name in self.__struct_fields__ if name != "nodes")
        values = ((name, getattr(self, name)) for name in names)
        return {name: value for name, value in values if value is not None}


def choices_of(
    container: ContainerDocument | None, engine: EngineOptions | None
) -> Iterator[tuple[str, str, str]]:
    """Yield where a job chooses something that its tenant may forbid, of which kind, and what."""
    if container is not None:
        yield "container/image", "image", container.image
    for kind, value in ({} if engine is None else engine.given).items():
        yield f"engine/{kind}", kind, value


JobEngine = Annotated[
    EngineOptions | None,
    says(
        "What it chooses of the engine that runs it, as a partition of Slurm; a worker whose "
        "engine has no such choice does not run it.",
        {"partition": "long", "account": "climate"},
    ),
]
