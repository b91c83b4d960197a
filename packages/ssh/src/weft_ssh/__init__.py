"""Hosts that exist and are reached by ssh, as machines of pools. They are never made."""

from weft.ports.extension import Extension

EXTENSION = Extension(checks="weft_ssh.provider:check_known_hosts")
