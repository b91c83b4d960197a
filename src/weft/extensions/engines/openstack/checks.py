"""What `weft doctor` asks of clouds."""

from collections.abc import Iterator

from weft.core.findings import Finding
from weft.extensions.engines.openstack.provider import check_regions
from weft.extensions.engines.openstack.settings import OpenStackSettings
from weft.ports.provider import ProviderError
from weft.settings import Settings


def check_clouds(settings: Settings) -> Iterator[Finding]:
    """Yield whether those that the settings name answer; nothing if they name none."""
    cloud = settings.section(OpenStackSettings)
    if cloud.openstack_connect is None:
        return
    try:
        yield from (Finding("openstack", "ok", region) for region in check_regions(cloud))
    except ProviderError as error:
        advice = "See docs/guides/openstack.md for the settings and the credential."
        yield Finding("openstack", "wrong", str(error), advice)
