"""Options that say what a job needs to run, for commands that make jobs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from weft.cli.input.limit_options import LimitOptions, limit_fields
from weft.cli.input.options import bounded, check_text, read_option
from weft.cli.input.signature import Parameter
from weft.core.billing.resources import parse_cpu_m, parse_mebibytes, parse_memory_mib

GPU_MAX: Final = 1024
"""As the server has it."""
_IMAGES: Final = ("docker://", "oci:", "dir:")
READERS: Final[Mapping[str, Callable[[Any], int]]] = {
    "cpu": parse_cpu_m,
    "memory": parse_memory_mib,
    "storage": parse_mebibytes,
}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ShapeOptions(LimitOptions):
    """What a job needs, and when it may run."""

    cpu: Annotated[str | None, Parameter(group="Job")] = None
    """Cores, such as 2, 0.25 or 250m (default 1)."""

    memory: Annotated[str | None, Parameter(group="Job")] = None
    """Memory with its unit, such as 512Mi or 4G (default 512Mi)."""

    storage: Annotated[str | None, Parameter(group="Job")] = None
    """Disk with its unit, such as 10Gi (default none)."""

    gpu: Annotated[int | None, Parameter(group="Job", validator=bounded(0, GPU_MAX))] = None
    """GPUs that it has for itself (default 0)."""

    resource: Annotated[tuple[str, ...], Parameter(group="Job", negative="")] = ()
    """Something else that workers offer, such as rack=4 or zone=b; may be repeated."""

    image: Annotated[str | None, Parameter(group="Job")] = None
    """Run it in a container of this image: docker://NAME, which NAME alone means, oci: or dir:."""


NO_SHAPE = ShapeOptions()


def shape_fields(options: ShapeOptions) -> dict[str, Any]:
    """Return the fields of a job document that these options set."""
    resources: dict[str, Any] = {}
    for name, read in READERS.items():
        if (text := getattr(options, name)) is not None:
            read_option(f"--{name}", text, read)
            resources[name] = text
    if options.gpu is not None:
        resources["gpu"] = options.gpu
    resources.update(read_option("--resource", text, _resource) for text in options.resource)
    fields = limit_fields(options) | ({"resources": resources} if resources else {})
    if options.image is not None:
        check_text([options.image])
        is_whole = options.image.startswith(_IMAGES)
        fields["container"] = {"image": options.image if is_whole else _IMAGES[0] + options.image}
    return fields


def _resource(text: str) -> tuple[str, str]:
    """Read `rack=4`. Raise `ValueError`."""
    check_text([text])
    name, _, value = text.partition("=")
    if not name or not value:
        raise ValueError(f"{text!r} is not as rack=4 or zone=b")
    return name, value
