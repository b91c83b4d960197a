"""What openstack.sh needs from the APIs: CLOUDS.YAML PORT services | CLOUDS.YAML PORT HOSTS.

With "services" it enters the services, their endpoints and two users; with a number it
makes the image and the flavours and exits with 1 until this number of compute hosts is up.
"""

import os
import sys
from typing import Any

import openstack

clouds, port, what = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.environ["OS_CLIENT_CONFIG_FILE"] = clouds
cloud: Any = openstack.connect(cloud="admin")


def services() -> None:
    identity = cloud.identity
    if identity.find_user("demo"):
        return
    for kind, name, offset in (
        ("placement", "placement", 1),
        ("image", "glance", 2),
        ("network", "neutron", 4),
        ("compute", "nova", 3),
    ):
        service = identity.create_service(name=name, type=kind)
        path = "/v2.1" if kind == "compute" else ""
        url = f"http://127.0.0.1:{port + offset}{path}"
        for interface in ("public", "internal", "admin"):
            identity.create_endpoint(
                service_id=service.id, interface=interface, url=url, region_id="RegionOne"
            )
    for name, roles in (("service", ("admin", "service")), ("demo", ("member",))):
        project = identity.create_project(name=name, domain_id="default")
        user = identity.create_user(
            name=name, password=name, domain_id="default", default_project_id=project.id
        )
        for role in roles:
            found = identity.find_role(role) or identity.create_role(name=role)
            identity.assign_project_role_to_user(project, user, found)


def compute(hosts: int) -> bool:
    if not list(cloud.image.images(name="test")):
        cloud.image.create_image(
            name="test", disk_format="raw", container_format="bare", visibility="public", data=b"-"
        )
    for name, cpus, ram in (("small", 1, 512), ("large", 4, 8192)):
        if not cloud.compute.find_flavor(name):
            cloud.compute.create_flavor(name=name, vcpus=cpus, ram=ram, disk=1)
    up = [s for s in cloud.compute.services() if s.binary == "nova-compute" and s.state == "up"]
    return len(up) >= hosts


if what == "services":
    services()
elif not compute(int(what)):
    sys.exit(1)
