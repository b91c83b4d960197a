"""Deliveries: when one is tried again, and letters with notices and dead messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.deliveries.delivery_retry import GONE, RetryPlan, is_delivered, next_try_s
from weft.core.deliveries.mail import (
    LINES_MAX,
    DeadMail,
    MailServer,
    parse_mail_address,
    parse_mail_domains,
    parse_mail_server,
    wrong_mail_address,
)

JITTER = st.floats(0, 1, exclude_max=True)
PLANS = st.builds(
    RetryPlan,
    first_s=st.floats(0.01, 10),
    longest_s=st.floats(10, 86400),
    attempts_max=st.integers(1, 10_000),
    age_max_s=st.floats(1, 31_536_000),
)
STATUSES = st.none() | st.integers(100, 599)
ATTEMPTS = st.integers(1, 20_000)
AGES = st.floats(0, 4e7)


@given(PLANS, STATUSES, ATTEMPTS, AGES, JITTER)
def test_delay_stays_within_its_bounds_and_within_the_age(
    plan: RetryPlan, status: int | None, attempts: int, age_s: float, jitter: float
) -> None:
    delay_s = next_try_s(plan, status, attempts=attempts, age_s=age_s, jitter=jitter)
    ends = status == GONE or attempts >= plan.attempts_max or age_s >= plan.age_max_s

    assert (delay_s is None) == ends
    if delay_s is not None:
        assert 0 < delay_s <= plan.longest_s
        assert age_s + delay_s <= plan.age_max_s * (1 + 1e-9)
        assert delay_s >= min(plan.first_s / 2, plan.age_max_s - age_s)


@given(PLANS, AGES, st.integers(1, 200))
def test_delay_never_shrinks_without_jitter(plan: RetryPlan, age_s: float, attempts: int) -> None:
    pair = [
        next_try_s(plan, 500, attempts=n, age_s=age_s, jitter=0.0)
        for n in (attempts, attempts + 1)
    ]

    assert pair[0] is None or pair[1] is None or pair[0] <= pair[1]


@given(PLANS, JITTER)
def test_every_callback_is_given_up_in_the_end(plan: RetryPlan, jitter: float) -> None:
    """However often it fails at once: attempts and age both have an end."""
    age_s, attempts = 0.0, 1
    while attempts <= plan.attempts_max:
        delay_s = next_try_s(plan, None, attempts=attempts, age_s=age_s, jitter=jitter)
        if delay_s is None:
            break
        age_s, attempts = age_s + delay_s, attempts + 1

    assert attempts <= plan.attempts_max
    assert age_s <= plan.age_max_s * (1 + 1e-9)


def test_only_2xx_is_a_delivery() -> None:
    assert {status for status in range(100, 600) if is_delivered(status)} == set(range(200, 300))
    assert not is_delivered(None)


@cases(
    "text",
    [
        "jane",
        "@example.org",
        "jane@",
        "a b@example.org",
        "a@b@example.org",
        "a.@example.org",
        "x\r\nRCPT TO:<y@example.org>",
        "jane@exa mple.org",
        "<jane@example.org>",
        "ä@example.org",
        f"{'a' * 65}@example.org",
    ],
)
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


def test_a_letter_tells_of_all_since_the_last_and_not_too_soon() -> None:
    mail = DeadMail(per_hour=4)
    assert mail.take(10.0) is None

    mail.note("rabbit", "refused", "weft.home.submit.q")
    subject, text = mail.take(10.0) or ("", "")
    assert subject == "weft: 1 dead message"
    assert "1 refused at rabbit: weft.home.submit.q\n" in text

    for _ in range(3):
        mail.note("rabbit", "unroutable", "a\r\nBcc: x")
    assert mail.take(10.0 + 899) is None
    subject, text = mail.take(10.0 + 900) or ("", "")
    assert subject == "weft: 3 dead messages"
    assert "3 unroutable at rabbit: a??Bcc: x\n" in text
    assert mail.take(10.0 + 9000) is None


def test_a_letter_has_an_end() -> None:
    mail = DeadMail(per_hour=1)
    for n in range(1000):
        mail.note("rabbit", "unroutable", f"weft.home.submit.q{n}")
    subject, text = mail.take(0.0) or ("", "")

    assert subject == "weft: 1000 dead messages"
    assert len(text.splitlines()) <= LINES_MAX + 3
