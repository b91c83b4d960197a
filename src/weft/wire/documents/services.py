"""Services, which are started again whenever they end."""

from typing import Annotated, Literal

from msgspec import Struct

from weft.wire.description import says


class HealthDocument(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """How a service is asked whether it is healthy: by `command` or `http`."""

    command: Annotated[
        tuple[str, ...] | None,
        says("A program beside it, which says by exit code 0 that it is.", ["./check"]),
    ] = None
    http: Annotated[
        str | None,
        says("An address that answers with 2xx or 3xx if it is.", "http://127.0.0.1:8080/ready"),
    ] = None
    every_s: Annotated[
        float, says("How often it is asked, from 0.1 to 86400.", 10, unit="seconds")
    ] = 10.0
    timeout_s: Annotated[
        float, says("How long an answer may take, from 0.1 to 86400.", 5, unit="seconds")
    ] = 5.0
    failures: Annotated[
        int, says("After that many bad answers in a row it is started again, 1 to 1000.", 3)
    ] = 3


class ServiceDocument(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """What makes a job a service."""

    restart: Annotated[
        Literal["always", "on_failure"], says("`on_failure`: an exit with 0 is its end.", "always")
    ] = "always"
    first_s: Annotated[
        float,
        says(
            "The wait before the first restart, also after a run longer than `longest_s`; each "
            "one doubles it.",
            1,
            unit="seconds",
        ),
    ] = 1.0
    longest_s: Annotated[float, says("No wait is longer.", 60, unit="seconds")] = 60.0
    health: Annotated[HealthDocument | None, says("How it is asked whether it is healthy.")] = None


JobService = Annotated[
    ServiceDocument | None,
    says(
        "Makes it a service: it is started again whenever it ends, until it is cancelled. One of "
        "a name runs at a time.",
        {"restart": "always", "health": {"http": "http://127.0.0.1:8080/ready"}},
    ),
]
