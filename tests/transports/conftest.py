"""One broker for all tests of this folder."""

from collections.abc import Iterator

import pytest

from transports.rabbit_broker import RabbitBroker, rabbit_broker


@pytest.fixture(scope="session")
def broker() -> Iterator[RabbitBroker]:
    """Give a broker that runs."""
    with rabbit_broker() as found:
        yield found
