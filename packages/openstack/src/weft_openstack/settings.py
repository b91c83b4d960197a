"""Settings of the provider `openstack`."""

from dataclasses import dataclass
from pathlib import Path

from weft.settings import setting


@dataclass(frozen=True, kw_only=True)
class OpenStackSettings:
    """How the driver speaks to a cloud. Its credential stands in a file, never here."""

    openstack_clouds_file: Path | None = setting(
        None, "a clouds.yaml with the credential (default: where OpenStack's own programs look)"
    )
    openstack_cloud: str | None = setting(
        None, "the cloud's name in that file (default: OS_CLOUD, or the variables OS_*)"
    )
    openstack_regions: str = setting(
        "", "regions in which machines may be, as north,south (default: the credential's)"
    )
    openstack_connect: str | None = setting(
        None,
        "the address at which machines of the cloud reach the api, as https://weft.example.org",
    )
    openstack_answer_s: float = setting(
        30.0, "seconds after which a request to the cloud counts as unanswered", within=(1, 600)
    )
