"""What a job says about its container, its network and the engine that runs it."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import END, says

ImageName = Annotated[
    str,
    Meta(
        max_length=1024,
        pattern=r"^(?:docker://[A-Za-z0-9][A-Za-z0-9._/:@\[\]-]*|(?:oci|dir):/[^\x00-\x1f]*)"
        + END,
    ),
]
AbsolutePath = Annotated[str, Meta(max_length=4096, pattern=r"^/[^\x00]*" + END)]
UserName = Annotated[
    str,
    Meta(
        max_length=64,
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(?::[A-Za-z0-9_][A-Za-z0-9_.-]*)?" + END,
    ),
]


class ContainerMount(Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """A file or directory of the worker's host that a container sees."""

    source: Annotated[
        AbsolutePath,
        says("On the host, below the worker's setting `container_paths`.", "/data/in"),
    ]
    target: Annotated[AbsolutePath, says("In the container.", "/in")]
    write: Annotated[bool, says("The job may change it.")] = False


class ContainerDocument(Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """The container in which a job runs. Its root is read-only; `/tmp` and the job's own
    directory are its own. It has no network unless the job says `network: true`.
    """

    image: Annotated[
        ImageName,
        says(
            "`docker://` and a name in a registry, `oci:` and a layout on the worker's disk, or "
            "`dir:` and an unpacked root directory.",
            "docker://registry.example/tools/bwa:0.7.18",
        ),
    ]
    mounts: Annotated[
        Annotated[tuple[ContainerMount, ...], Meta(max_length=64)],
        says("What it sees of the host.", [{"source": "/data/in", "target": "/in"}]),
    ] = ()
    user: Annotated[
        UserName | None,
        says("User of the image, or `uid:gid`; without it the image's own.", "1000:1000"),
    ] = None


JobContainer = Annotated[
    ContainerDocument | None,
    says(
        "Runs the job in a container, on a worker that has the setting `containers`. Without "
        "command and script it runs what the image says.",
        {"image": "docker://registry.example/tools/bwa:0.7.18"},
    ),
]


JobNetwork = Annotated[
    bool | None,
    says(
        "`false`: it runs without network, and not at all on a worker that cannot see to that. "
        "Otherwise its worker decides.",
        False,  # noqa: FBT003 (an example)
    ),
]


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
