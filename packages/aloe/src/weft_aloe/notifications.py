"""Read the subscriptions of a submission."""

import re
from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from weft.core.addresses import AllowedHosts
from weft.core.deliveries.callback_url import wrong_callback
from weft.core.deliveries.delivery_retry import PAUSE_MAX_S, RETRIES_MAX
from weft.core.deliveries.mail import SCHEME, parse_mail_address, wrong_mail_address
from weft_aloe.words import EVENTS, OLD_STATUSES, STATUSES

URL_CHARS_MAX: Final = 1024
VARIABLES: Final[Mapping[str, str | None]] = {
    "UUID": "id",
    "EVENT": None,
    "OWNER": "owner",
    "JOB_ID": "id",
    "JOB_STATUS": "status",
    "JOB_NAME": "name",
    "JOB_OWNER": "owner",
    "JOB_URL": None,
    "JOB_SYSTEM": "systemId",
    "JOB_EXECUTION_SYSTEM": "systemId",
    "APP_ID": "appId",
    "JOB_APP_ID": "appId",
    "JOB_BATCH_QUEUE": "batchQueue",
    "JOB_CREATED": "created",
    "JOB_SUBMIT_TIME": "submitTime",
    "JOB_START_TIME": "startTime",
    "JOB_END_TIME": "endTime",
    "JOB_NODE_COUNT": "nodeCount",
    "JOB_PROCESSORS_PER_NODE": "processorsPerNode",
    "JOB_MEMORY_PER_NODE": "memoryPerNode",
    "JOB_MAX_RUNTIME": "maxRunTime",
    "JOB_ARCHIVE": "archive",
    "JOB_ARCHIVE_SYSTEM": "archiveSystem",
    "JOB_ARCHIVE_PATH": "archivePath",
    "JOB_ARCHIVE_URL": None,
    "JOB_OUTPUT_PATH": "outputPath",
    "JOB_LOCAL_ID": "localId",
    "JOB_TENANT": "tenantId",
    "JOB_ERROR": None,
    "PERMISSION_USERNAME": None,
    "PERMISSION_PERMISSION": None,
}
"""What a URL may name, and the field of the job's document that it is; None: something else."""
_VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")
_LOGIN: Final = re.compile(r"(?<=://)[A-Za-z0-9._~!$&'()*+,;=:%-]*@")
_HOST: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^/?]*")
_NEVER: Final = frozenset({"CREATED", "UPDATED", "HEARTBEAT"})
"""Events of Agave that jobs do not have here: whoever asks for them is told nothing."""
_FIELDS: Final = frozenset({"url", "event", "persistent", "policy"})
_POLICY: Final[Mapping[str, str]] = {
    "retryStrategy": "strategy",
    "retryLimit": "retries",
    "retryRate": "pause_s",
    "retryDelay": "delay_s",
    "saveOnFailure": "",
}
_STRATEGIES: Final = ("NONE", "IMMEDIATE", "DELAYED", "EXPONENTIAL")
_EVENTS: Final = frozenset({"*", *STATUSES, *OLD_STATUSES, *EVENTS, *_NEVER})


def wrong_notifications(
    value: object, most: int, allowed: AllowedHosts, mail_domains: frozenset[str] | None = None
) -> list[str]:
    """Return what is wrong with the subscriptions of a submission. `most`: how many there may be.
    `allowed`: private addresses that may be told; `mail_domains`: where mail may go; None:
    nowhere.
    """
    if not isinstance(value, list):
        return ["notifications: expected a list"]
    if len(value) > most:
        return [f"notifications: {len(value)} of them, at most {most}"]
    return [
        f"notifications[{at}]{'.' if field else ''}{field}: {why}"
        for at, one in enumerate(value)
        for field, why in _wrong(one, allowed, mail_domains)
    ]


def subscriptions_of(value: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return subscriptions that are right, as weft keeps them."""
    return [
        {
            "name": f"{uuid4()}-011",
            "url": _address(one["url"]),
            "event": _event(one["event"].upper()),
            "persistent": one.get("persistent") is True,
            "policy": _policy(one.get("policy") or {}),
        }
        for one in value
    ]


def _address(url: str) -> str:
    return f"{SCHEME}{parse_mail_address(url)}" if _is_mailbox(url) else url


def _is_mailbox(url: str) -> bool:
    return "://" not in url and "@" in url


def logs_in(value: list[dict[str, Any]]) -> bool:
    """Say whether any of these subscriptions, which are right, has a login in its address."""
    return any(_LOGIN.search(one["url"]) for one in value)


def _event(word: str) -> str:
    return word if word in _NEVER else OLD_STATUSES.get(word, word)


def _policy(given: Mapping[str, Any]) -> dict[str, Any]:
    found = {_POLICY[name]: value for name, value in given.items() if _POLICY[name]}
    if "strategy" in found:
        found["strategy"] = found["strategy"].lower()
    return found


def _wrong(
    one: object, allowed: AllowedHosts, mail_domains: frozenset[str] | None
) -> list[tuple[str, str]]:
    if not isinstance(one, dict):
        return [("", "expected an object")]
    problems = [
        (name[:80], "not a field of a notification") for name in one if name not in _FIELDS
    ]
    if why := _wrong_url(one.get("url"), allowed, mail_domains):
        problems.append(("url", why))
    event = one.get("event")
    if not isinstance(event, str) or event.upper() not in _EVENTS:
        problems.append(("event", "expected a status, an event of permissions, or `*`"))
    if not isinstance(one.get("persistent") or False, bool):
        problems.append(("persistent", "expected true or false"))
    policy = one.get("policy")
    if isinstance(policy, dict):
        problems += _wrong_policy(policy)
    elif policy is not None:
        problems.append(("policy", "expected an object"))
    return problems


def _wrong_url(
    url: object, allowed: AllowedHosts, mail_domains: frozenset[str] | None
) -> str | None:
    if not isinstance(url, str) or not url.strip():
        return "it is required"
    if len(url) > URL_CHARS_MAX:
        return f"{len(url)} characters, at most {URL_CHARS_MAX}"
    if _is_mailbox(url):
        if mail_domains is None:
            return "this server sends no e-mail, only requests to http and https addresses"
        return wrong_mail_address(url, mail_domains)
    if unknown := [name for name in _VARIABLE.findall(url) if name not in VARIABLES]:
        return f"${{{unknown[0][:40]}}} is not a variable of jobs"
    if (host := _HOST.match(url)) and "$" in host[0]:
        return "variables can stand in the path and the query only"
    return wrong_callback(_LOGIN.sub("", _VARIABLE.sub("x", url), count=1), allowed)


def _wrong_policy(policy: Mapping[str, Any]) -> list[tuple[str, str]]:
    problems = []
    for name, value in policy.items():
        why = "not a field of a policy"
        if name == "retryStrategy":
            is_right = isinstance(value, str) and value.upper() in _STRATEGIES
            why = f"expected one of {', '.join(_STRATEGIES)}"
        elif name == "saveOnFailure":
            is_right, why = isinstance(value, bool), "expected true or false"
        elif name in _POLICY:
            most = RETRIES_MAX if name == "retryLimit" else int(PAUSE_MAX_S)
            is_right = _is_whole(value) and 0 <= value <= most
            why = f"expected a whole number from 0 to {most}"
        else:
            is_right = False
        if not is_right:
            problems.append((f"policy.{name[:80]}", why))
    return problems


def _is_whole(value: Any) -> bool:  # noqa: ANN401 (JSON)
    return isinstance(value, int) and not isinstance(value, bool)
