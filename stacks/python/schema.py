"""What shared/content/schema.ts says of bodies, and its words for what is wrong with them."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from ulid import ULID

MAX_DEPTH = 64
NOT_STORABLE = r'must match pattern "^[^\u0000\ud800-\udfff]*$"'

# By the type of Pydantic's error; the other words are those of the validators here.
WORDS = {
    "missing": "must have required property '{name}'",
    "extra_forbidden": "must NOT have additional properties {name}",
    "literal_error": "must be equal to one of the allowed values",
    "string_pattern_mismatch": 'must match pattern "{pattern}"',
    "string_too_long": "must NOT have more than {max_length} characters",
    "string_too_short": "must NOT have fewer than {min_length} characters",
    "string_type": "must be string",
    "string_unicode": NOT_STORABLE,
    "value_error": "{error}",
}


def storable(text: str) -> str:
    """Refuses what Postgres cannot store; Pydantic itself refuses halves of surrogate pairs."""
    if "\0" in text:
        raise ValueError(NOT_STORABLE)
    return text


def shallow(value: Any) -> Any:
    if not is_shallow(value, MAX_DEPTH):
        raise ValueError(f"must not be nested more than {MAX_DEPTH} deep")
    return value


def is_shallow(value: Any, levels: int) -> bool:
    if not isinstance(value, list | dict):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(is_shallow(part, levels - 1) for part in parts)


Id = Annotated[str, StringConstraints(pattern="^[0-7][0-9A-HJKMNP-TV-Z]{25}$")]
Line = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(storable)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=50_000), AfterValidator(storable)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Identified(Body):
    id: Id = Field(default_factory=lambda: str(ULID()))


class Draft(Body):
    """What a client says of a content."""

    title: Line
    body: Text
    author: Line
    status: Literal["draft", "published", "archived"] = "draft"
    data: Annotated[Any, AfterValidator(shallow)] = None


class NewContent(Draft, Identified):
    """Its id comes first, as it is in answers: Pydantic collects fields from the last base on."""


class NewUser(Body):
    name: Line
    email: Line


def mistake(errors: Iterable[Mapping[str, Any]]) -> str:
    """Tells one of those that Pydantic finds: a property that is missing, or one too many, before all others."""
    order = {"missing": 0, "extra_forbidden": 1}
    error = min(errors, key=lambda error: order.get(error["type"], 2))
    _, *path = error["loc"]
    if not path:
        return "the body must be object"
    words = WORDS[error["type"]].format(name=path[0], **error.get("ctx", {}))
    return f"{'the body' if error['type'] in order else path[0]} {words}"
