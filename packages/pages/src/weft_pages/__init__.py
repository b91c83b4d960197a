"""The pages of weft, below `/ui`: HTML over the use cases of the api."""

from weft.ports.extension import Extension

EXTENSION = Extension(api="weft_pages.part:PART")
