"""`weft up --broker ADDRESS`: a transports file of one entry, in the home."""

import json
from dataclasses import replace
from typing import Final

from weft.core.errors import Invalid
from weft.run.doors import installed_doors
from weft.run.home import Home
from weft.run.host.worker_name import user_name
from weft.settings import Settings
from weft.settings.transports_file import known_transports

NAME: Final = "transports.toml"
TENANT: Final = "default"


class BrokerNotUsable(Invalid, code="UP.BROKER_NOT_USABLE"):
    """An address of a broker that cannot be used, or one beside a file."""


def with_broker(settings: Settings, address: str) -> Settings:
    """Return the settings with a file that names this broker. Raise `BrokerNotUsable`."""
    if settings.transports_file is not None:
        raise BrokerNotUsable(
            "a broker and a transports_file cannot be given together",
            detail=f"transports_file is {settings.transports_file}.",
            hint="Name the broker in that file, with a table `[transports.jobs]`.",
        )
    kind, _, hosts = address.partition("://")
    if kind not in {"kafka", "kafkas"} or not hosts or "@" in hosts:
        raise BrokerNotUsable(
            f"{address!r} is no address of a broker",
            detail="Brokers that can be named here: Kafka.",
            hint="Write kafka://HOST:PORT. Passwords and RabbitMQ need a transports_file.",
        )
    (door,) = (one.name for one in installed_doors() if one.workers_group is not None)
    home = Home(settings.home)
    home.prepare()
    path = home.path / NAME
    path.write_text(
        f"# Written by `weft up --broker {json.dumps(address)}`; the next one replaces it.\n"
        "[[transports]]\n"
        'name = "kafka"\n'
        'kind = "kafka"\n'
        f"address = {json.dumps(address)}\n"
        f'tenants = ["{TENANT}"]\n'
        "\n"
        "[transports.jobs]\n"
        f'door = "{door}"\n'
        f'tenant = "{TENANT}"\n'
        f"user = {json.dumps(user_name())}\n"
    )
    known_transports(path)
    return replace(settings, transports_file=path)
