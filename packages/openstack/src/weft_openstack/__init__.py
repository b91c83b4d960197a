"""OpenStack, whose servers are machines of pools. It must know no other provider."""

from weft.ports.extension import Extension

EXTENSION = Extension(checks="weft_openstack.provider:check_clouds")
