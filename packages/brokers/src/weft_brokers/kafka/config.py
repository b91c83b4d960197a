"""What librdkafka is told of a cluster, and what it says went wrong."""

from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException

from weft.ports.transport import Connection, TransportError

# Calls that fail often say only that they took too long; the reason came before, by a callback.


class Failures:
    """The failures of one client."""

    def __init__(self) -> None:
        self.last = "it does not answer"

    def note(self, error: KafkaError) -> None:
        """Note a failure; librdkafka goes on. Its summary (no broker left) hides the reason."""
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 (the library's name)
            self.last = error.str()[:500]

    def reason(self, error: BaseException) -> str:
        """Return what a failed call says, with the last failure."""
        fact = error.args[0] if isinstance(error, KafkaException) and error.args else error
        text = fact.str() if isinstance(fact, KafkaError) else str(fact) or type(error).__name__
        return f"{text[:500]} · {self.last}"


REFRESH_S: Final = 30
"""Those who write know partitions that a topic has gained after this time."""
_SCHEMES: Final = {"kafka": "PLAINTEXT", "kafkas": "SSL"}


def config_of(to: Connection, failures: Failures) -> dict[str, Any]:
    """Return what librdkafka is told of a cluster, with its names."""
    scheme, _, hosts = to.address.rstrip("/").partition("://")
    if scheme not in _SCHEMES or not hosts:
        raise TransportError("`address` is not kafka://HOST:PORT or kafkas://HOST:PORT")
    config: dict[str, Any] = {
        "bootstrap.servers": hosts,
        "error_cb": failures.note,
        "log_level": 0,
        "security.protocol": _SCHEMES[scheme],
        "topic.metadata.refresh.interval.ms": REFRESH_S * 1000,
    }
    if to.password:
        config |= {
            "security.protocol": f"SASL_{_SCHEMES[scheme]}",
            "sasl.mechanism": "PLAIN",
            "sasl.username": to.user,
            "sasl.password": to.password,
        }
    if to.ca_file is not None:
        config["ssl.ca.location"] = str(to.ca_file)
    return config
