"""How `make site` makes pages of the repository's Markdown: settings of Sphinx (ADR 173)."""

import sys
from pathlib import Path

import weft

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

project = "weft"
author = "the authors of weft"
release = weft.__version__
extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_pages"
]  # fmt: skip

# The source is the whole repository, so that links between its pages are those of the site.
source_suffix = {".md": "markdown"}
root_doc = "docs/README"
include_patterns = [
    "*.md", "docs/**.md", "deploy/*/README.md", "examples/*/README.md",
    "integrations/*/README.md", "packages/*/README.md",
]  # fmt: skip
exclude_patterns = [".*", "build", "dist", "tests", "benches", "requirements", "**/__pycache__"]
# Pages that stand below another one; all others stand where docs/README.md names them.
site_below = {
    "docs/adr/README": ["docs/adr/0*"],
    "docs/architecture": ["docs/lock-order", "packages/*/README"],
    "docs/guides/worlds": ["docs/guides/with-*", "integrations/*/README"],
    "docs/operations/README": ["docs/operations/*", "deploy/*/README"],
    "docs/performance": ["docs/history/*"],
    "docs/reference/README": ["docs/reference/*"],
}
# They are too many for the list of pages that is beside each page: these list them themselves.
site_lists = ["docs/adr/README"]

myst_heading_anchors = 4
smartquotes = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"weft {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_search_scorer = "docs/search_order.js"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"footer_icons": []}
pygments_style = "friendly"
pygments_dark_style = "monokai"
