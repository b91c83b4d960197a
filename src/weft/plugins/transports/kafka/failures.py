"""What librdkafka says went wrong.

Calls that fail often say only that they took too long; the reason came before, by a callback.
"""

from confluent_kafka import KafkaError, KafkaException


class Failures:
    """The failures of one client."""

    def __init__(self) -> None:
        self.last = "it does not answer"

    def note(self, error: KafkaError) -> None:
        """Note a failure; librdkafka goes on by itself. Its summary, that no broker is left,
        hides the reason.
        """
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 (the library's name)
            self.last = error.str()[:500]

    def reason(self, error: BaseException) -> str:
        """Return what a failed call says, with the last failure."""
        fact = error.args[0] if isinstance(error, KafkaException) and error.args else error
        text = fact.str() if isinstance(fact, KafkaError) else str(fact) or type(error).__name__
        return f"{text[:500]} · {self.last}"
