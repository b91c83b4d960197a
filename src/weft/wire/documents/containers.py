"""What a job says about its container and network."""

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
