"""All settings that a file, the environment or a flag can give, and what is known of each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from everfind_gateway.setting_groups.index import IndexSettings
from everfind_gateway.setting_groups.model import ModelSettings
from everfind_gateway.setting_groups.search import SearchSettings
from everfind_gateway.setting_groups.serving import ServingSettings

ENV_PREFIX = "EVERFIND_"


class SettingValues(ServingSettings, SearchSettings, ModelSettings, IndexSettings):
    """The settings that a file, the environment or a flag can give; the documentation has the last group first."""

    @field_validator("*", mode="before")
    @classmethod
    def _no_other_kind(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse what would pass for a value: true and false as numbers, nothing as a path."""
        name = info.field_name or ""
        if isinstance(value, bool) and cls.model_fields[name].annotation is int:
            raise PydanticCustomError("number", "it needs a whole number")
        if is_path(name) and isinstance(value, str) and not value.strip():
            raise PydanticCustomError("path", "it needs a path; leave it out for the default")
        return value


def setting_fields() -> Mapping[str, FieldInfo]:
    """Each setting's name and its documented field, in the order of the documentation."""
    return SettingValues.model_fields


def is_path(name: str) -> bool:
    """Whether a setting is one path."""
    return name in SettingValues.model_fields and SettingValues.model_fields[name].annotation in (Path, Path | None)


def setting_extra(name: str) -> dict[str, Any]:
    """What is said of a setting beside its type: see :func:`everfind_gateway.setting_groups.field.setting`."""
    extra = SettingValues.model_fields[name].json_schema_extra
    assert isinstance(extra, dict)
    return extra


def project_settings() -> frozenset[str]:
    """The settings that a project's own file may set."""
    return frozenset(name for name in SettingValues.model_fields if setting_extra(name)["project"])
