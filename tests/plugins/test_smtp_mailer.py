"""Mail, handed in at a real server on this host that a test lets answer."""

import asyncio
from collections.abc import AsyncIterator
from email import message_from_bytes, policy

import pytest

from weft.core.deliveries.mail import MailServer
from weft.plugins.mailers.smtp import SmtpMailer
from weft.ports.senders import Mail

MAIL = Mail(to="jane@example.org", name="n1", subject="Job ä is\nFAILED", text="ends\n.\nhere\n")


class Mailbox:
    """A small server of SMTP, which keeps what it takes."""

    def __init__(self) -> None:
        self.kept: list[bytes] = []
        self.to: list[str] = []
        self.answers = {"RCPT": "250 ok"}
        self.port = 0

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Talk to one client."""
        writer.write(b"220 here\r\n")
        while line := (await reader.readline()).decode():
            verb = line[:4].upper().strip()
            if verb == "DATA":
                writer.write(b"354 go on\r\n")
                data = await reader.readuntil(b"\r\n.\r\n")
                self.kept.append(data[:-3].replace(b"\r\n..", b"\r\n."))
            if verb == "RCPT":
                self.to.append(line.strip().partition(":")[2])
            writer.write((self.answers.get(verb, "250 ok") + "\r\n").encode())
            if verb == "QUIT":
                break
        writer.close()


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    box = Mailbox()
    async with await asyncio.start_server(box.take, "127.0.0.1", 0) as server:
        box.port = server.sockets[0].getsockname()[1]
        yield box


def mailer(port: int) -> SmtpMailer:
    return SmtpMailer(MailServer("127.0.0.1", port), "weft@example.org", "no", timeout_s=10)


async def test_mail_arrives_as_it_was_written(mailbox: Mailbox) -> None:
    answered = await mailer(mailbox.port).send(MAIL)
    message = message_from_bytes(mailbox.kept[0], policy=policy.default)

    assert answered.status == 250
    assert mailbox.to == ["<jane@example.org>"]
    assert (message["Subject"], message["From"]) == ("Job ä is FAILED", "weft@example.org")
    assert message["Message-ID"] == "<n1@example.org>"
    assert message.get_content().replace("\r\n", "\n") == MAIL.text


@pytest.mark.parametrize("status", [450, 550])
async def test_refused_mailbox_is_an_answer(mailbox: Mailbox, status: int) -> None:
    mailbox.answers["RCPT"] = f"{status} no such mailbox"
    answered = await mailer(mailbox.port).send(MAIL)

    assert (answered.status, answered.error) == (status, "no such mailbox")


async def test_server_that_is_away_is_an_answer(mailbox: Mailbox) -> None:
    async with await asyncio.start_server(mailbox.take, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
    answered = await mailer(port).send(MAIL)

    assert answered.status is None
    assert answered.error is not None
    assert answered.error.startswith("the mail server did not take it: ")
