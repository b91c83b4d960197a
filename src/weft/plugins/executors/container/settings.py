"""Settings of the executor `container`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from weft.core.text.texts import parse_paths
from weft.settings import Bytes, setting
from weft.settings.declare import Checked


@dataclass(frozen=True, kw_only=True)
class ContainerSettings:
    """Whether a worker runs containers, which images, and what they see of the host."""

    containers: bool = setting(
        default=False, help_="run jobs with `container`; the worker needs skopeo, umoci, bwrap"
    )
    container_paths: Annotated[str, Checked(parse_paths)] = setting(
        "",
        "directories of the host below which containers may have mounts and images on disk, "
        "as /data,/images",
    )
    container_images: str = setting(
        "",
        "beginnings of the images that may run, as docker://registry.example/,oci:/images/; "
        "empty: any",
    )
    container_network: bool = setting(
        default=True, help_="let containers with `network: true` use the network of the host"
    )
    container_cache: Path | None = setting(
        None, "where unpacked images are kept (default: in the home)"
    )
    container_cache_bytes: Bytes = setting(
        20 << 30,
        "bytes of unpacked images beyond which those go that were not used for longest",
        within=(1 << 20, 1 << 50),
    )
    container_pulls_max: int = setting(
        2,
        "images that a worker pulls for a tenant at a time; for all of them twice as many",
        within=(1, 64),
    )
    container_pull_s: float = setting(900.0, "seconds that a pull may take", within=(1, 86_400))
    container_tag_s: float = setting(
        60.0,
        "seconds for which a registry's answer holds: what a tag means, and who may read it",
        within=(0, 86_400),
    )
