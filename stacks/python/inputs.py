"""What a request says in its path and its query."""

import json
import re

ULID = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"


class InputError(ValueError):
    """To be answered with 400; says what a client is told."""


def integer(name: str, text: str, most: int) -> int:
    """Takes nothing that int() would take besides: no sign, space, underscore or leading zero."""
    if re.fullmatch("[1-9][0-9]{0,2}", text) and int(text) <= most:
        return int(text)
    raise InputError(f"{name} must be an integer from 1 to {most}, not {quote(text)}")


def ulid(name: str, text: str) -> str:
    if re.fullmatch(ULID, text):
        return text
    raise InputError(f"{name} must be a ULID, not {quote(text)}")


def quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
