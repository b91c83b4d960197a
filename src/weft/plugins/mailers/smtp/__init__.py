"""Mail by SMTP, with the standard library: in a thread, as it waits for each answer."""

import asyncio
import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from typing import Literal

from weft.core.deliveries.mail import MailServer
from weft.ports.senders import Answered, Mail

_DONE = 250
_TEXT_CHARS = 200


@dataclass(frozen=True)
class SmtpMailer:
    """Hands in mail at one server."""

    server: MailServer
    sender: str
    tls: Literal["no", "starttls", "tls"]
    timeout_s: float
    """Of each answer."""

    async def send(self, mail: Mail) -> Answered:
        """Hand in once."""
        return await asyncio.to_thread(self._send, mail)

    def _send(self, mail: Mail) -> Answered:
        try:
            smtp = self._connected()
            try:
                smtp.send_message(self._message(mail), self.sender, [mail.to])
            finally:
                with suppress(OSError, smtplib.SMTPException):  # whatever it says to the goodbye
                    smtp.quit()
        except smtplib.SMTPRecipientsRefused as error:
            code, text = error.recipients[mail.to]
            return Answered(status=code, error=_line(text))
        except smtplib.SMTPResponseException as error:
            return Answered(status=error.smtp_code, error=_line(error.smtp_error))
        except (OSError, smtplib.SMTPException) as error:
            return Answered(error=f"the mail server did not take it: {_line(str(error))}")
        return Answered(status=_DONE)

    def _connected(self) -> smtplib.SMTP:
        host, port, wait_s = self.server.host, self.server.port, self.timeout_s
        if self.tls == "tls":
            tls = ssl.create_default_context()
            return smtplib.SMTP_SSL(host, port, timeout=wait_s, context=tls)
        smtp = smtplib.SMTP(host, port, timeout=wait_s)
        if self.tls == "starttls":
            smtp.starttls(context=ssl.create_default_context())
        return smtp

    def _message(self, mail: Mail) -> EmailMessage:
        message = EmailMessage()
        message["From"], message["To"] = self.sender, mail.to
        message["Subject"] = " ".join(mail.subject.split())
        message["Date"] = formatdate()
        message["Message-ID"] = f"<{mail.name}@{self.sender.rpartition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(mail.text)
        return message


def _line(text: bytes | str) -> str:
    """Return what the server said: short, on one line."""
    said = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return " ".join(said.split())[:_TEXT_CHARS]
