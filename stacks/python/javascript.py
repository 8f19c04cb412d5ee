"""JSON as JavaScript reads (JSON.parse) and writes it (JSON.stringify).

Numbers are doubles, keys like indices of an array come first, halves of surrogate pairs are allowed.
"""

import json
import re
from decimal import Decimal
from json.encoder import encode_basestring
from math import inf
from typing import Any

_NO_INDEX = 2**32 - 1
_CLOSING = {"[": "]", "{": "}"}

_space = re.compile(r"[ \t\n\r]*")


def parse(text: str) -> Any:
    """Raises ValueError where it is not JSON."""
    try:
        return _decoder.decode(text)
    except RecursionError:
        return _parse_deep(text)


def stringify(value: Any) -> str:
    """Of what parse returns."""
    return _write(value).encode("utf-8", "backslashreplace").decode()  # \ud800 is how JSON writes half of a pair


def string(text: str) -> str:
    """Of a text without halves of surrogate pairs."""
    return encode_basestring(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(sorted(dict(pairs).items(), key=_position))


def _position(item: tuple[str, Any]) -> int:
    key = item[0]
    return min(int(key), _NO_INDEX) if re.fullmatch("0|[1-9][0-9]{0,9}", key) else _NO_INDEX


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_float=float, parse_int=float, parse_constant=_no_constant)


def _write(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, float):
        return _write_number(value)
    if isinstance(value, list):
        return f"[{','.join(map(_write, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{encode_basestring(key)}:{_write(part)}' for key, part in value.items())}}}"
    return {None: "null", True: "true", False: "false"}[value]


def _write_number(value: float) -> str:
    size = abs(value)
    if size == inf:
        return "null"
    if size == 0:
        return "0"  # also for -0
    digits = repr(value).removesuffix(".0")
    if "e" not in digits:
        return digits
    return format(Decimal(digits), "f") if 1e-6 <= size < 1e21 else digits.replace("e-0", "e-")


def _parse_deep(text: str) -> Any:
    """Keeps a list of what is open instead of calling itself, which Python does a thousand times at most."""
    opened: list[tuple[str, list[Any]]] = []
    at = _skip(text, 0)
    while True:
        bracket = text[at : at + 1]
        if bracket in _CLOSING:
            at = _skip(text, at + 1)
            if text[at : at + 1] != _CLOSING[bracket]:
                opened.append((bracket, []))
                at = _parse_key(text, at, opened)
                continue
            value, at = ([] if bracket == "[" else {}), at + 1
        else:
            value, at = _decoder.raw_decode(text, at)
        while opened:
            bracket, parts = opened[-1]
            parts.append(value)
            at = _skip(text, at) + 1
            if text[at - 1 : at] == ",":
                at = _parse_key(text, _skip(text, at), opened)
                break
            if text[at - 1 : at] != _CLOSING[bracket]:
                raise ValueError(f"{_CLOSING[bracket]} is missing")
            opened.pop()
            value = parts if bracket == "[" else _object(list(zip(parts[::2], parts[1::2], strict=True)))
        else:
            if _skip(text, at) < len(text):
                raise ValueError("there is more than JSON")
            return value


def _parse_key(text: str, at: int, opened: list[tuple[str, list[Any]]]) -> int:
    """Reads the key of a property up to its value, where what is open is an object."""
    bracket, parts = opened[-1]
    if bracket == "[":
        return at
    if text[at : at + 1] != '"':
        raise ValueError("a key is missing")
    key, at = _decoder.raw_decode(text, at)
    at = _skip(text, at)
    if text[at : at + 1] != ":":
        raise ValueError(": is missing")
    parts.append(key)
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    return _space.match(text, at).end()
