import asyncio
import smtplib
from collections.abc import Callable
from contextlib import suppress
from email.message import EmailMessage
from typing import Any

from cases import cases
from weft_siege.mailbox import FAILS, Mailbox
from weft_siege.notices import DOMAIN, wrong_notices

TOLD = {
    "each/7/RUNNING": {"a": 1, "b": 2},
    "each/7/FINISHED": {"c": 1},
    "once/7/FINISHED": {"d": 1},
}


@cases(
    ("forge", "seen"),
    [
        (lambda _: None, []),
        (lambda told: told["each/7/RUNNING"].pop("a"), ["each/7/RUNNING"]),
        (lambda told: told["each/7/RUNNING"].update(a=0), ["each/7/RUNNING"]),
        (lambda told: told["once/7/FINISHED"].update(e=0), ["once/7/FINISHED"]),
        (lambda told: told.pop("once/7/FINISHED"), ["once/7/FINISHED"]),
        (lambda told: told.update({"each/7/STOPPED": {"e": 1}}), ["each/7/STOPPED"]),
        (lambda told: told.update({f"one@{DOMAIN}": {"m": 1, "n": 1}}), [f"one@{DOMAIN}"]),
    ],
)
def test_what_was_told_otherwise_is_seen(forge: Callable[[Any], object], seen: list[str]) -> None:
    told = {path: {**ids} for path, ids in TOLD.items()} | {f"one@{DOMAIN}": {"m": 1}}
    forge(told)
    found = wrong_notices(
        {"7": ["RUNNING", "RUNNING", "FINISHED"]}, {"7": "one"}, {"one": "FINISHED"}, told, told
    )

    assert [words.split()[0] for words in found] == seen


def test_a_job_that_is_gone_or_ended_otherwise_is_seen() -> None:
    assert list(wrong_notices({}, {}, {"one": "FINISHED"}, {}, {})) == ["one is no job"]
    told = {f"{kind}/7/FAILED": {kind: 1} for kind in ("each", "once")}
    mailed = {f"one@{DOMAIN}": {"m": 1}}
    wrong = wrong_notices({"7": ["FAILED"]}, {"7": "one"}, {"one": "FINISHED"}, told, mailed)
    assert len([*wrong]) == len(("each", "once"))


async def test_a_mailbox_refuses_some_and_counts_the_others() -> None:
    message = EmailMessage()
    message["Message-ID"] = "<n1@siege>"

    def send(port: int) -> None:
        with smtplib.SMTP("127.0.0.1", port) as smtp, suppress(smtplib.SMTPRecipientsRefused):
            smtp.send_message(message, "weft@localhost", ["one@siege"])

    box = Mailbox()
    async with box.listening():
        for _ in range(FAILS):
            await asyncio.to_thread(send, box.port)

    assert box.taken == {"one@siege": {"n1": FAILS - 1}}
