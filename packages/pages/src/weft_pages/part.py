"""What the pages add to the api."""

from pathlib import Path
from typing import Final

import weft_pages as pages
from weft.api.http.parts import ApiPart
from weft.api.http.routing import routes_in
from weft.core.packages import modules_of
from weft_pages.buttons import BUTTONS

PART: Final = ApiPart(
    routes=(*routes_in(*modules_of(pages)), *BUTTONS),
    templates=Path(__file__).parent / "templates",
)
