"""Callbacks of batches that Hail's client created: Hail's documents, sent once."""

from collections.abc import Mapping
from typing import Any, Final

from weft.driver.callback_forms import CallbackForm
from weft.extensions.doors.hail.summaries import Document, batch_document, group_document


def _document(document: Mapping[str, Any], token: str) -> Document:
    """Return a batch or a group, whose document this is."""
    return batch_document(document, token) if "id" in document else group_document(document)


FORM: Final = CallbackForm(document=_document, once=True)
