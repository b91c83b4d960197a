import tomllib
from pathlib import Path

import pytest

from cases import cases
from weft.core.errors import Invalid
from weft_siege.broker import Broker


def test_url_becomes_a_connection(tmp_path: Path) -> None:
    broker = Broker("amqps://me:p%2Fw@mq.example/%2Fours", tmp_path)

    (found,) = tomllib.loads(broker.transports.read_text())["transports"]
    (queue,) = tomllib.loads(broker.queues.read_text())["queue"]
    assert (found["address"], found["virtual_host"]) == ("amqps://mq.example:5672", "/ours")
    assert (found["user"], (tmp_path / found["password_file"]).read_text()) == ("me", "p/w")
    assert (queue["name"], queue["transport"]) == (broker.queue, found["name"])


@cases(("scheme", "direct"), [("amqp", ""), ("amqps", "amqps://mq.example:5672")])
async def test_weft_reaches_it_by_the_wire(scheme: str, direct: str, tmp_path: Path) -> None:
    broker = Broker(f"{scheme}://mq.example", tmp_path)
    async with broker.carried():
        (found,) = tomllib.loads(broker.transports.read_text())["transports"]

        assert found["address"] == (direct or f"amqp://127.0.0.1:{broker.wire.port}")
        assert found["virtual_host"] == "/"


@cases("url", ["http://x", "amqp://", "amqp://h:99999999", "amqp://["])
def test_what_is_no_url_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid):
        Broker(url, tmp_path)
