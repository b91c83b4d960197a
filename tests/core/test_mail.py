"""Addresses to which notices are mailed."""

import pytest

from cases import cases
from weft.core.deliveries.mail import (
    MailServer,
    parse_mail_address,
    parse_mail_domains,
    parse_mail_server,
    wrong_mail_address,
)


@cases(
    "text",
    ["jane", "@example.org", "jane@", "a b@example.org", "a@b@example.org", "a.@example.org",
     "x\r\nRCPT TO:<y@example.org>", "jane@exa mple.org", "<jane@example.org>", "ä@example.org",
     f"{'a' * 65}@example.org"],
)  # fmt: skip
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected an address"):
        parse_mail_address(text)


def test_domains_say_who_may_be_mailed() -> None:
    domains = parse_mail_domains("example.org, Example.COM")

    assert wrong_mail_address("jane.doe+x@EXAMPLE.org", domains) is None
    assert wrong_mail_address("jane@example.com", domains) is None
    assert "mail_domains" in (wrong_mail_address("jane@example.net", domains) or "")
    assert wrong_mail_address("jane@example.net", parse_mail_domains("*")) is None
    with pytest.raises(ValueError, match="not a domain"):
        parse_mail_domains("a b")


def test_server_has_a_port() -> None:
    assert parse_mail_server("") is None
    assert parse_mail_server("mail") == MailServer("mail", 25)
    assert parse_mail_server("Mail.example.org:2525") == MailServer("mail.example.org", 2525)
    for wrong in ("mail:", "mail:x", "mail:0", "mail:70000", "a b:25", ":25"):
        with pytest.raises(ValueError, match="HOST:PORT"):
            parse_mail_server(wrong)
