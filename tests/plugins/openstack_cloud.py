"""An OpenStack of the tests (`tests/servers/openstack.sh`): servers are made, and run nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from servers.on_this_host import running

START_S = 1800
PORT = 26100
KEPT = "TEST_OPENSTACK"
"""A variable that names a directory with an OpenStack that stays, as a new one takes minutes."""


class OpenStackCloud:
    """A cloud that runs."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.clouds_file = directory / "clouds.yaml"
        self.url = f"http://127.0.0.1:{PORT}/v3"

    def connect(self, cloud: str = "admin") -> Any:  # noqa: ANN401 (the SDK's)
        """Return OpenStack's own client; `admin` sees the servers of all projects."""
        import openstack  # noqa: PLC0415 (half a second)

        config = openstack.config.OpenStackConfig(config_files=[str(self.clouds_file)])
        return openstack.connection.Connection(config=config.get_one(cloud=cloud))


@contextmanager
def openstack_cloud() -> Iterator[OpenStackCloud]:
    """Run a cloud; skip the test where there cannot be one."""
    kept = os.environ.get(KEPT)
    with running("OpenStack", PORT, within_s=START_S, kept=kept) as directory:
        yield OpenStackCloud(directory)
