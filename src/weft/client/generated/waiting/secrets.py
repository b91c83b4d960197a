"""Calls of `weft.api.use_cases.secrets`, for programs that wait.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.generated.calls import CallsT_co
from weft.client.http.listing import Document
from weft.client.loop_thread import Twin


class SecretsWaits(Twin[CallsT_co]):
    """Calls of `weft.api.use_cases.secrets`, for programs that wait."""

    def list_secrets(self) -> list[Document]:
        """Return one's secrets by name, without their values.

        Use case: `weft.api.use_cases.secrets.list_secrets`.
        """
        return self._loop_thread.wait(self._async.list_secrets())

    def remove_secret(self, name: str) -> None:
        """Forget one of one's secrets: no attempt gets it from now on. Jobs that need it and start
        later end with an error. Raise `SecretNotFound`.

        Use case: `weft.api.use_cases.secrets.remove_secret`.

        Args:
            name: The name of a secret.
        """
        self._loop_thread.wait(self._async.remove_secret(name))

    def rotate_secrets(self) -> Document:
        """Encrypt all secrets of all tenants with the first key, so that others can go; return
        `n_rotated` and the `key`. Only for administrators of the site. Raise `RightMissing`,
        and `SecretKeyMissing` if one was encrypted with a key that is not here; those before it
        are done.

        Use case: `weft.api.use_cases.secrets.rotate_secrets`.
        """
        return self._loop_thread.wait(self._async.rotate_secrets())
