"""The words of permissions, as the history of a job has them: `bob: all (WRITE)`."""

from collections.abc import Mapping
from typing import Any


def user_and_word(message: str) -> tuple[str, str]:
    """Return the user of a change, and what they may do then, in the words of Agave."""
    user, _, word = message.partition(": ")
    ours, _, said = word.partition(" (")
    return user, said.rstrip(")") or ours.upper()


def said_of(facts: Mapping[str, Any], user: str) -> str:
    """Return the word by which a user got what they may do; empty: it is not known."""
    for change in reversed(facts["changes"]):
        if change["kind"] == "shared" and change["message"]:
            whose, word = user_and_word(change["message"])
            if whose.casefold() == user.casefold():
                return word
    return ""
