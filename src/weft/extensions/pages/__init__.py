"""The pages of weft, below `/ui`: HTML over the use cases of the api. They show nothing that the
API cannot say. Each file has its `ROUTES`; `api/html` has what all pages are made with.
"""

from weft.ports.extension import Extension

EXTENSION = Extension(api="weft.extensions.pages.part:PART")
