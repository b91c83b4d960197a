"""Letters about messages that nobody wants."""

from weft.core.deliveries.mail import LINES_MAX, DeadMail


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
