"""What subscriptions are told: the document of a job as it was at each event that they ask for."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec

from weft import __version__
from weft.driver.callback_forms import Notice, NoticeForm
from weft.ports.store import Row
from weft_aloe.documents import job_document
from weft_aloe.notifications import VARIABLES
from weft_aloe.story import Entry, Story, as_of, story_of
from weft_aloe.words import user_and_word

_VARIABLE: Final = re.compile(r"\$\{([A-Z_]+)\}")


def notices_of(
    facts: Row, subscriptions: Sequence[Row], masks: tuple[str, ...]
) -> Iterator[Notice]:
    """Yield what is to be sent of a job and is not recorded yet, the oldest first."""
    story, seen = story_of(facts), Counter[str]()
    for at, entry in enumerate(story.entries):
        seen[entry.status] += 1
        key = f"{entry.status}.{seen[entry.status]}"
        wanted = [
            subscription
            for subscription in subscriptions
            if subscription["event"] in {"*", entry.status} and key not in subscription["keys"]
        ]
        if wanted:
            then = as_of(story, at)
            document = _document(facts, then, masks)
            body, values = msgspec.json.encode(document).decode(), _values(document, entry, then)
            for one in wanted:
                yield Notice(
                    subscription_id=one["id"], key=key, url=_filled(one["url"], values), body=body
                )


def _document(facts: Row, then: Story, masks: tuple[str, ...]) -> dict[str, Any]:
    seen = [one.status for one in then.entries if one.status in {"DELETED", "RESTORED"}]
    known = {**facts, "hidden": seen[-1:] == ["DELETED"]}
    return job_document(known, facts["document"].get("base") or "", masks, then)


def _filled(url: str, values: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: quote(values.get(match[1], ""), safe=""), url)


def _values(document: Mapping[str, Any], entry: Entry, then: Story) -> dict[str, str]:
    """Return the variables of a URL; those that have no value are empty."""
    user, word = user_and_word(entry.detail or "")
    found = {name: document[field] for name, field in VARIABLES.items() if field}
    found |= {
        "EVENT": entry.status,
        "JOB_URL": document["_links"]["self"]["href"],
        "JOB_ARCHIVE_URL": document["_links"]["archiveData"]["href"],
        "JOB_ERROR": then.error,
        "PERMISSION_USERNAME": user,
        "PERMISSION_PERMISSION": word,
    }
    return {name: _text(value) for name, value in found.items()}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _headers(delivery: str, subscription: str) -> Mapping[str, str]:
    return {
        "User-Agent": f"Agave-Hookbot/weft-{__version__}",
        "X-Agave-Delivery": delivery,
        "X-Agave-Notification": subscription,
    }


def _mail(body: bytes) -> tuple[str, str]:
    """Return subject and text of a notice that is mailed."""
    job = msgspec.json.decode(body, type=dict[str, Any])
    subject = f"Job {job['name']} is {job['status']}"
    lines = (subject, job["lastStatusMessage"], job["id"], job["_links"]["self"]["href"])
    return subject, "\n".join(str(line) for line in lines) + "\n"


NOTICES: Final = NoticeForm(notices=notices_of, headers=_headers, mail=_mail)
