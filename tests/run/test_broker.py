"""`weft up --broker`, and the table of a connection that names topics of jobs."""

from pathlib import Path

import pytest

from cases import cases
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
    assert [one.tenant for one in found.jobs] == ["default"]


@cases(
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


SET = """
[[transports.{table}]]
tenant = "{tenant}"
user = "ada"
"""
JOBS = SET + 'door = "jobweaver"\n'
ENTRY = FILE[: FILE.index("[transports.jobs]")].replace('"default"', '"home", "away"')


def test_a_file_may_have_several_sets_of_each_kind(tmp_path: Path) -> None:
    file = tmp_path / "transports.toml"
    sets = [
        (JOBS + prefix).format(table="jobs", tenant=tenant)
        for tenant, prefix in (("home", ""), ("away", 'prefix = "away."\n'))
    ]
    sets += [
        SET.format(table=table, tenant=tenant)
        for table in ("events", "submissions")
        for tenant in ("home", "away")
    ]
    file.write_text(ENTRY + "".join(sets))
    (found,) = known_transports(file)

    assert [(one.tenant, one.name_at("kafka")) for one in found.jobs] == [
        ("home", "kafka"),
        ("away", "kafka/away."),
    ]
    assert [one.tenant for one in found.events] == ["home", "away"]
    assert [one.tenant for one in found.submissions] == ["home", "away"]


@cases(
    ("tables", "says"),
    [
        (JOBS.format(table="jobs", tenant="there"), r"`jobs\[0\].tenant` is none of `tenants`"),
        (
            JOBS.format(table="jobs", tenant="home") + JOBS.format(table="jobs", tenant="away"),
            r"the same `prefix`: `\$.*jobs\[0\]` - at `\$.transports\[0\].jobs\[1\].prefix`",
        ),
        (SET.format(table="events", tenant="home") * 2, r"at `\$.transports\[0\].events\[1\]"),
        (
            SET.format(table="submissions", tenant="home") * 2,
            r"the same `tenant`.*at `\$.transports\[0\].submissions\[1\].tenant`",
        ),
        (
            SET.format(table="events", tenant="home") + "more = 1\n",
            r"no such field - at `.*events\[0\].more",
        ),
        ('jobs = "jobweaver"\n', r"expected a list.*transports\[0\].jobs"),
        ("[[transports.job]]\n", r"did you mean jobs\? - at `\$.transports\[0\].job`"),
    ],
)
def test_sets_that_cannot_be_used_are_named(tmp_path: Path, tables: str, says: str) -> None:
    """By the file and the key."""
    file = tmp_path / "transports.toml"
    file.write_text(ENTRY + tables)
    with pytest.raises(InvalidSetting, match=says) as refused:
        known_transports(file)

    assert str(file) in str(refused.value)


def test_two_connections_to_one_broker_share_no_topics(tmp_path: Path) -> None:
    file = tmp_path / "transports.toml"
    one = ENTRY + SET.format(table="events", tenant="home")
    file.write_text(one + one.replace('name = "kafka"', 'name = "other"'))
    with pytest.raises(InvalidSetting, match=r"at `\$.transports\[1\].events\[0\].tenant`"):
        known_transports(file)
