"""Settings of callbacks, however they are sent."""

from typing import Annotated, Literal

from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.mail import parse_mail_address, parse_mail_domains, parse_mail_server
from weft.core.ends.conditions import parse_tester_commands
from weft.settings.declare import Checked, section, setting


@section
class CallbackSettings:
    """Whom callbacks may reach, and how often the driver tries."""

    callback_private_hosts: Annotated[str, Checked(parse_allowed_hosts)] = setting(
        "",
        "networks and hosts that callbacks may reach although they are not public, "
        "such as `10.0.0.0/8, hooks.internal`; `*`: all",
    )
    sink_commands: Annotated[str, Checked(parse_tester_commands)] = setting(
        "",
        "programs that sinks of kind `command` may run, with the rights of the driver, such as "
        "`announce=/opt/announce,mail=/opt/mail`",
    )
    callback_retry_first_s: float = setting(
        2.0, "pause after a callback's first failure; it doubles", within=(0.01, 3600)
    )
    callback_retry_longest_s: float = setting(
        3600.0, "longest pause between two attempts of a callback", within=(0.01, 86400)
    )
    callback_attempts_max: int = setting(
        100, "attempts after which a callback is given up", within=(1, 10_000)
    )
    callback_age_max_s: float = setting(
        259200.0,
        "seconds after the completion at which a callback is given up",
        within=(1, 31536000),
    )
    callbacks_max: int = setting(
        32, "callbacks that are sent at once; one tenant may use half of them", within=(2, 1000)
    )
    callbacks_per_host_max: int = setting(
        4, "callbacks that are sent to one host at once", within=(1, 1000)
    )
    mail_server: Annotated[str, Checked(parse_mail_server)] = setting(
        "",
        "`HOST:PORT` of the SMTP server that takes mail to subscribers; empty: nobody is mailed",
    )
    mail_from: Annotated[str, Checked(parse_mail_address)] = setting(
        "weft@localhost", "address from which mail comes"
    )
    mail_domains: Annotated[str, Checked(parse_mail_domains)] = setting(
        "*", "domains to which mail may go, such as `example.org, example.com`; `*`: all"
    )
    mail_tls: Literal["no", "starttls", "tls"] = setting(
        "no", "how the SMTP server is spoken to: in the open, by STARTTLS, or by TLS"
    )
    job_subscriptions_max: int = setting(
        20, "subscriptions to events that a job may have", within=(0, 1000)
    )
