"""What librdkafka is told of a cluster."""

from typing import Any, Final

from weft.plugins.transports.kafka.failures import Failures
from weft.ports.transport import Connection, TransportError

REFRESH_S: Final = 30
"""Those who write know partitions that a topic has gained after this time."""
_SCHEMES: Final = {"kafka": "PLAINTEXT", "kafkas": "SSL"}


def config_of(to: Connection, failures: Failures) -> dict[str, Any]:
    """Return what librdkafka is told of a cluster, with its names."""
    scheme, _, hosts = to.address.rstrip("/").partition("://")
    if scheme not in _SCHEMES or not hosts:
        raise TransportError("`address` is not kafka://HOST:PORT or kafkas://HOST:PORT")
    config: dict[str, Any] = {
        "bootstrap.servers": hosts, "error_cb": failures.note, "log_level": 0,
        "security.protocol": _SCHEMES[scheme],
        "topic.metadata.refresh.interval.ms": REFRESH_S * 1000,
    }  # fmt: skip
    if to.password:
        config |= {
            "security.protocol": f"SASL_{_SCHEMES[scheme]}", "sasl.mechanism": "PLAIN",
            "sasl.username": to.user, "sasl.password": to.password,
        }  # fmt: skip
    if to.ca_file is not None:
        config["ssl.ca.location"] = str(to.ca_file)
    return config
