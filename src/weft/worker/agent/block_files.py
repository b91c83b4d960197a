"""What jobs ask to wait for, read from the files that they leave when they exit with 75."""

from typing import Final

from weft.core.attempt_key import AttemptKey
from weft.core.ends.conditions import FILE_BYTES_MAX, Ask, WrongAsk, read_ask
from weft.worker.agent.attempt_files import AttemptFiles, NoPlainFile

BLOCKS: Final = "blocks"
"""Their directory in the worker's scratch directory."""


class BlockFiles(AttemptFiles):
    """What attempts ask to wait for."""

    def read(self, key: AttemptKey) -> tuple[Ask | None, str]:
        """Return what an attempt asks for, None: nothing; and what of that is ignored. Raise
        `WrongAsk`.
        """
        try:
            return read_ask(self.content(key, FILE_BYTES_MAX))
        except FileNotFoundError:
            return None, ""
        except NoPlainFile as error:
            raise WrongAsk("it is not a plain file") from error
        except OSError as error:
            raise WrongAsk(f"it cannot be read: {error.strerror}") from error
