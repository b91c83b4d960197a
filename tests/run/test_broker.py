"""`weft up --broker`, and the table of a connection that names topics of jobs."""

from pathlib import Path

import pytest

from weft.run.broker import BrokerNotUsable, with_broker
from weft.run.job_topics import NoTopics, opened_topics
from weft.settings import InvalidSetting, load_settings
from weft.settings.transports_file import known_transports

FILE = """
[[transports]]
name = "kafka"
kind = "kafka"
address = "kafka://127.0.0.1:1"
tenants = ["default"]

[transports.jobs]
door = "{door}"
tenant = "{tenant}"
user = "ada"
"""


def test_a_broker_is_a_file_of_one_entry(tmp_path: Path) -> None:
    settings = with_broker(load_settings({"home": tmp_path}), "kafka://127.0.0.1:9092")
    (found,) = known_transports(settings.transports_file)

    assert (found.kind, found.address) == ("kafka", "kafka://127.0.0.1:9092")
    assert found.jobs is not None
    assert found.jobs.tenant == "default"


@pytest.mark.parametrize(
    "address", ["127.0.0.1:9092", "rabbitmq", "kafka://", "kafka://u:p@host:1", "amqp://host:1"]
)
def test_what_is_no_address_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(BrokerNotUsable, match="no address"):
        with_broker(load_settings({"home": tmp_path}), address)


def test_a_broker_beside_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "transports.toml"
    file.write_text(FILE.format(door="jobweaver", tenant="default"))
    settings = load_settings({"home": tmp_path, "transports_file": file})
    with pytest.raises(BrokerNotUsable, match="together"):
        with_broker(settings, "kafka://127.0.0.1:9092")


async def test_jobs_of_a_door_that_cannot_travel_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")
    file = tmp_path / "transports.toml"
    file.write_text(FILE.format(door="hail", tenant="default"))
    with pytest.raises(NoTopics, match="hail"):
        async with opened_topics(load_settings({"home": tmp_path, "transports_file": file})):
            pass


def test_one_connection_of_its_own_tenants_has_topics_of_jobs(tmp_path: Path) -> None:
    file = tmp_path / "transports.toml"
    one = FILE.format(door="jobweaver", tenant="default")
    file.write_text(one + one.replace('name = "kafka"', 'name = "other"'))
    with pytest.raises(InvalidSetting, match="only one entry"):
        known_transports(file)
    file.write_text(FILE.format(door="jobweaver", tenant="elsewhere"))
    with pytest.raises(InvalidSetting, match="none of `tenants`"):
        known_transports(file)
