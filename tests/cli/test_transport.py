"""`weft transport` without a server."""

from pathlib import Path

import pytest

from weft.core.errors import TransportNotFound
from weft.run.transports import check_transports
from weft.settings import load_settings

FILE = """
[[transports]]
name = "rabbit"
kind = "rabbitmq"
address = "amqp://127.0.0.1:1"
tenants = ["default"]
"""


def test_what_cannot_be_reached_is_wrong_and_what_is_not_named_does_not_exist(
    tmp_path: Path,
) -> None:
    pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")
    file = tmp_path / "transports.toml"
    file.write_text(FILE)
    settings = load_settings({"home": tmp_path, "transports_file": file})
    (found,) = check_transports(settings, "rabbit")

    assert (found.check, found.verdict) == ("rabbit", "wrong")
    assert "cannot be reached" in found.found
    with pytest.raises(TransportNotFound):
        check_transports(settings, "kafka")
