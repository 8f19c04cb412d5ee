"""What shared/content/schema.ts says of bodies, in the words of ajv, which validates them in the other servers."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator
from ulid import ULID

import inputs

STORABLE = r"^[^\u0000\ud800-\udfff]*$"
STATUSES = ("draft", "published", "archived")
MAX_DEPTH = 64


def text(most: int) -> PlainValidator:
    """Instead of Pydantic's own validator, which refuses halves of surrogate pairs before it looks at anything else."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError("must be string")
        if len(value) > most:
            raise ValueError(f"must NOT have more than {most} characters")
        if value == "":
            raise ValueError("must NOT have fewer than 1 characters")
        return check_pattern(STORABLE, value)

    return PlainValidator(check)


def check_id(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be string")
    return check_pattern(inputs.ULID, value)


def check_pattern(pattern: str, value: str) -> str:
    if not re.fullmatch(pattern, value):
        raise ValueError(f'must match pattern "{pattern}"')
    return value


def check_status(value: Any) -> str:
    if value not in STATUSES:
        raise ValueError("must be equal to one of the allowed values")
    return value


def check_data(value: Any) -> Any:
    if not is_shallow(value, MAX_DEPTH):
        raise ValueError(f"must not be nested more than {MAX_DEPTH} deep")
    return value


def is_shallow(value: Any, levels: int) -> bool:
    if not isinstance(value, list | dict):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(is_shallow(part, levels - 1) for part in parts)


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Identified(Body):
    id: Annotated[str, PlainValidator(check_id)] = Field(default_factory=lambda: str(ULID()))


class Draft(Body):
    """What a client says of a content."""

    title: Annotated[str, text(200)]
    body: Annotated[str, text(50_000)]
    author: Annotated[str, text(200)]
    status: Annotated[str, PlainValidator(check_status)] = "draft"
    data: Annotated[Any, AfterValidator(check_data)] = None


class NewContent(Draft, Identified):
    """Its id comes first, as it does in answers: Pydantic collects fields from the last base on."""


class NewUser(Body):
    name: Annotated[str, text(200)]
    email: Annotated[str, text(200)]


def mistake(errors: Iterable[Mapping[str, Any]]) -> str:
    """Tells one of those that Pydantic finds: a property that is missing, or one too many, before all others."""
    order = {"missing": 0, "extra_forbidden": 1}
    error = min(errors, key=lambda error: order.get(error["type"], 2))
    name = error["loc"][-1]
    match error["type"]:
        case "missing":
            return f"the body must have required property '{name}'"
        case "extra_forbidden":
            return f"the body must NOT have additional properties {name}"
        case "string_unicode":  # of a key
            return f"the body must NOT have additional properties {error['input']}"
        case "value_error":
            return f"{name} {error['ctx']['error']}"
        case _:
            return "the body must be object"
