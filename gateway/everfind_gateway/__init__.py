"""The front of everfind: settings, command line, the one-process mode, and the Python API (docs/python.md).

The API is loaded when it is used: neither commands nor a team's proxy wait for it or need it.
"""

from __future__ import annotations

from everfind_core.late_names import late_names

__getattr__, __dir__, __all__ = late_names(__name__, __file__)
