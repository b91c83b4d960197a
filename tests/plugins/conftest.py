"""What tests of plug-ins share."""

from pathlib import Path

import pytest

from plugins.provider_site import write_program


@pytest.fixture
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give what the module calls `PROGRAM`."""
    return write_program(tmp_path, request.module.PROGRAM)
