"""`TypeSchema`: the values accepted by a field or an element."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from isoform import _core

from . import _classes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Number of arguments of the origins with a fixed number.
_ARITY = {"Array": 1, "List": 1, "Map": 2, "Dict": 2, "Optional": 1}
_LEAVES = frozenset(
    [
        "None",
        "Any",
        "bool",
        "int",
        "BigInt",
        "complex",
        "float",
        "str",
        "bytes",
        "dtype",
        "Device",
        "Shape",
        "Tensor",
        "Callable",
        "Object",
        "Value",
    ]
)
_POINTER = "ctypes.c_void_p"
_RESERVED = _LEAVES | _ARITY.keys() | {"Union", "tuple", "Literal", _POINTER}

# Names used by files and other front ends for the same types.
_FOLDED = {
    "ffi.Array": "Array",
    "ffi.BigInt": "BigInt",
    "ffi.Bytes": "bytes",
    "ffi.Dict": "Dict",
    "ffi.Function": "Callable",
    "ffi.List": "List",
    "ffi.Map": "Map",
    "ffi.Object": "Object",
    "ffi.Shape": "Shape",
    "ffi.String": "str",
    "ffi.Tensor": "Tensor",
    "DataType": "dtype",
    "isoform.Array": "Array",
    "isoform.BigInt": "BigInt",
    "isoform.Complex": "complex",
    "isoform.Dict": "Dict",
    "isoform.Function": "Callable",
    "isoform.List": "List",
    "isoform.Map": "Map",
    "isoform.Object": "Object",
    "isoform.Shape": "Shape",
    "isoform.Tensor": "Tensor",
    "Function": "Callable",
    "Tuple": "tuple",
    "Variant": "Union",
}


@dataclass(frozen=True, repr=False)
class TypeSchema:
    """The values accepted by a field, an element or a parameter.

    Attributes:
        origin: `int`, `Array`, `Optional`, … or the type key of a node type.
        args: the schemas of the parts, for example the elements of an array.
        named_args: for `Callable` the groups `params` and `return`.
        values: for `Literal` the values.

    Raises:
        ValueError: the number of `args` does not fit the origin.

    Example:
        >>> TypeSchema("Map", (TypeSchema("str"), TypeSchema("int")))
        Map[str, int]
        >>> TypeSchema.from_annotation(int | None).check_value(None)
    """

    origin: str
    args: tuple[TypeSchema, ...] = ()
    named_args: Mapping[str, tuple[TypeSchema, ...]] | None = None
    values: tuple[bool | int | str | None, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "args", tuple(self.args or ()))
        origin, given = _FOLDED.get(self.origin, self.origin), len(self.args)
        object.__setattr__(self, "origin", origin)
        wanted = _ARITY.get(origin)
        if origin == "Optional" and given != 1:
            raise ValueError("Optional must have exactly one argument")
        if origin == "Union" and given < 2:
            raise ValueError("Union must have at least two arguments")
        if origin == "Literal" and not self.values:
            raise ValueError("Literal must have at least one value")
        if wanted is not None and given == 0:
            object.__setattr__(self, "args", (TypeSchema("Any"),) * wanted)
        elif wanted is not None and given != wanted:
            raise ValueError(f"{origin} must have {wanted} arguments, got {given}")

    def __hash__(self) -> int:
        return hash((self.repr(), self.args))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypeSchema):
            return NotImplemented
        # Comparing types distinguishes `1` from `True`, which Python considers equal.
        return (
            self.origin == other.origin
            and self.args == other.args
            and (self.named_args or None) == (other.named_args or None)
            and self.values == other.values
            and [type(v) for v in self.values] == [type(v) for v in other.values]
        )

    # ---- from descriptions ---------------------------------------------------

    @staticmethod
    def from_annotation(annotation: Any) -> TypeSchema:
        """The schema that a Python annotation describes.

        Takes linear time in the size of the annotation.

        Args:
            annotation: `int`, `list[int]`, `str | None`, `Literal["a"]`, a
                registered class and the like.

        Raises:
            TypeError: no value of the core has such a type.

        Example:
            >>> TypeSchema.from_annotation(list[int])
            List[int]
            >>> TypeSchema.from_annotation(tuple[str, ...])
            Array[str]
        """
        from ._annotations import Reader

        return Reader().read(annotation)

    @staticmethod
    def from_json_str(text: str) -> TypeSchema:
        """The schema described by the JSON text of `to_json`.

        Raises:
            ValueError: the text is not JSON, or a part has the wrong arity.
            TypeError: the JSON does not describe a schema.

        Example:
            >>> TypeSchema.from_json_str('{"type": "Optional", "args": [{"type": "int"}]}')
            int | None
        """
        return TypeSchema.from_json_obj(json.loads(text))

    @staticmethod
    def from_json_obj(description: Any) -> TypeSchema:
        """The schema that `to_json` described.

        Raises:
            TypeError: `description` is not a dict with a string under `type`.

        Example:
            >>> TypeSchema.from_json_obj({"type": "int"})
            int
        """
        kind = type(description).__name__
        known = cast("dict[str, Any]", description if isinstance(description, dict) else {})
        if not isinstance(known.get("type"), str):
            raise TypeError(f"expected a schema dict with a 'type' key, got {kind}")
        read = TypeSchema.from_json_obj
        named: dict[str, list[Any]] | None = known.get("named_args")
        return TypeSchema(
            known["type"],
            # Some writers include lengths in the arguments.
            tuple(read(part) for part in known.get("args", ()) if isinstance(part, dict)),
            None if named is None else {k: tuple(map(read, v)) for k, v in named.items()},
            tuple(known.get("values", ())),
        )

    # ---- to descriptions -----------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The schema in a dict for `json.dumps`.

        Example:
            >>> TypeSchema("List", (TypeSchema("int"),)).to_json()
            {'type': 'List', 'args': [{'type': 'int'}]}
        """
        result: dict[str, Any] = {"type": self.origin}
        if self.args or self.origin == "tuple":
            result["args"] = [part.to_json() for part in self.args]
        if self.named_args:
            result["named_args"] = {
                name: [part.to_json() for part in parts] for name, parts in self.named_args.items()
            }
        if self.values:
            result["values"] = list(self.values)
        return result

    def repr(self, ty_map: Callable[[str], str] | None = None) -> str:
        """The schema in the notation of annotations.

        Args:
            ty_map: replaces the name of every origin.

        Example:
            >>> TypeSchema("Optional", (TypeSchema("List", (TypeSchema("int"),)),)).repr(str.lower)
            'list[int] | none'
        """
        name = ty_map or str
        parts = [part.repr(ty_map) for part in self.args]
        if self.origin == "Union":
            return " | ".join(parts)
        if self.origin == "Optional":
            nothing = name("None")
            return parts[0] if parts[0] == nothing else f"{parts[0]} | {nothing}"
        if self.origin == "Callable":
            return self._repr_callable(name, ty_map)
        if self.origin == "Literal":
            return f"{name('Literal')}[{', '.join(repr(value) for value in self.values)}]"
        if self.origin == "tuple":
            return f"{name('tuple')}[{', '.join(parts) or '()'}]"
        return f"{name(self.origin)}[{', '.join(parts)}]" if parts else name(self.origin)

    def _repr_callable(self, name: Callable[[str], str], ty_map: Any) -> str:
        groups = self.named_args or {}
        result = groups["return"][0].repr(ty_map) if groups.get("return") else name("Any")
        if "params" not in groups:
            return f"{name('Callable')}[..., {result}]"
        params = ", ".join(part.repr(ty_map) for part in groups["params"])
        return f"{name('Callable')}[[{params}], {result}]"

    input_repr = repr  # noqa: A003
    output_repr = repr  # noqa: A003

    def __repr__(self) -> str:
        return self.repr()

    # ---- use -----------------------------------------------------------------

    def strict(self) -> TypeSchema:
        """The schema with `Value` for every `Any`: no objects of Python.

        Example:
            >>> from collections.abc import Mapping
            >>> from typing import Any
            >>> TypeSchema.from_annotation(Mapping[str, Any]).strict()
            Map[str, Value]
        """
        origin = "Value" if self.origin == "Any" else self.origin
        # The parameters of a function are not values of the field.
        return TypeSchema(
            origin, tuple(part.strict() for part in self.args), self.named_args, self.values
        )

    @property
    def type_key(self) -> str | None:
        """The type key if the schema describes a node type, otherwise None."""
        return None if self.origin in _RESERVED else self.origin

    @cached_property
    def compiled(self) -> _core.Schema:
        """The schema in the form for conversions."""
        return _core.Schema(self._description())

    def _description(self) -> tuple[Any, ...]:
        parts = tuple(part._description() for part in self.args)
        if self.origin == "Object":
            return ("Object", "isoform.Object")
        if self.origin == "complex":
            return ("Object", "isoform.Complex")
        if self.origin == _POINTER:
            return ("Pointer",)
        if self.origin == "tuple":
            return ("Tuple", *parts)
        if self.origin == "Literal":
            return ("Literal", *self.values)
        if self.origin == "Callable":
            return ("Callable",)
        if self.origin in _RESERVED:
            return (self.origin, *parts)
        return ("Object", self.origin)

    def check_value(self, value: object) -> None:
        """Raises unless the value converts to this schema.

        Takes linear time in the size of the value.

        Raises:
            TypeError: the value does not fit; the message says where and why.

        Example:
            >>> TypeSchema.from_annotation(list[int]).check_value([1, "a"])
            Traceback (most recent call last):
            TypeError: type check failed for List[int]: element [1]: expected int, got str
        """
        try:
            self.compiled.check(value)
        except TypeError as error:
            # Only an exception raised by a value protocol is the cause.
            raise TypeError(f"type check failed for {self.repr()}: {error}") from error.__cause__

    def convert(self, value: object) -> Any:
        """The value as stored in and read from a field of this schema.

        Takes linear time in the size of the value.

        Raises:
            TypeError: the value does not fit; the message says where and why.

        Example:
            >>> TypeSchema.from_annotation(int).convert(True)
            1
        """
        return self.compiled.convert(value)

    def is_subtype_of(self, target: type) -> bool:
        """Returns whether the schema describes a subclass of `target`.

        Example:
            >>> from isoform.core import Object
            >>> TypeSchema("int").is_subtype_of(Object)
            False
        """
        if self.type_key is not None:
            try:
                cls = _core.class_of(self.type_key)
            except KeyError:
                return False
        else:
            cls = _core.Object if self.origin == "Object" else _classes.class_of(self.origin)
        return cls is not None and issubclass(cls, target)
