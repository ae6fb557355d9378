"""The site of the docs: `make site`. Source files are the pages as they lie in the repository; nothing is fetched."""

project = "everfind"
copyright = "2026, the everfind authors"  # noqa: A001 - Sphinx's name
root_doc = "docs/index"
extensions = ["myst_parser"]
include_patterns = [
    "docs/**.md",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "proto/README.md",
    "services/*/README.md",
    "examples/*/README.md",
]
exclude_patterns = ["docs/images/corpus/**"]
nitpicky = True
myst_heading_anchors = 4
html_theme = "furo"
html_title = "everfind"
html_copy_source = False
html_show_sphinx = False
pygments_style = "tango"
pygments_dark_style = "monokai"
