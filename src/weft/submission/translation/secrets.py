"""The secrets that jobs ask for: checked, and noted in their specs. Values never come here."""

from collections.abc import Sequence

import msgspec

from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.wire.secret_documents import SecretUse
from weft.wire.spec import WITH_SECRETS, JobSpec


def check_uses(uses: Sequence[SecretUse], problems: Problems, at: str) -> None:
    """Note secrets that are neither a variable nor a file, or both, or two in the same one."""
    taken: set[tuple[str | None, str | None]] = set()
    for n, use in enumerate(uses):
        target = (use.env, use.file)
        if (use.env is None) is (use.file is None):
            message = "a secret becomes a variable (`env`) or a file (`file`)"
            problems.add(InvalidValue, f"{at}/{n}", message)
        elif target in taken:
            message = f"another secret is {use.env or use.file} already"
            problems.add(InvalidValue, f"{at}/{n}", message)
        taken.add(target)


def with_secrets(specs: list[JobSpec]) -> list[JobSpec]:
    """Let only workers run these jobs that can give them their secrets."""
    return [
        msgspec.structs.replace(spec, executor=WITH_SECRETS + spec.executor)
        if spec.secrets
        else spec
        for spec in specs
    ]
