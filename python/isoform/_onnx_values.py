"""Conversion of Python values to inputs of ONNX programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from isoform import _core
from isoform.shape import Shape


def as_value(value: Any) -> Any:
    """An input in the form of the core: strings become a `StringTensor`."""
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        if items and all(isinstance(item, (str, bytes)) for item in items):
            return _strings((len(items),), items)
        return [as_value(item) for item in items]
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind in ("O", "S", "U", "T"):
        return _strings(value.shape, value.ravel().tolist())
    return value


def _strings(shape: Any, texts: Any) -> Any:
    encoded = [text if isinstance(text, bytes) else str(text).encode() for text in texts]
    return _core.class_of("onnx.StringTensor")(shape=Shape(shape), values=encoded)
