"""The words of everfind as typed values: immutable, without behaviour that needs I/O. See ARCHITECTURE.md."""

from __future__ import annotations

from everfind_core.late_names import late_names

__getattr__, __dir__, __all__ = late_names(__name__, __file__)
