"""Random objects of a class for hypothesis, for `isoform.testing.strategy`."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.core import TypeSchema
from isoform.dataclasses import Enum, _pending, fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isoform.dataclasses import Field

_DTYPES = ("bool", "int8", "int64", "uint8", "float16", "float32", "bfloat16")
_SEQUENCES = ("Array", "List")
_MAPS = ("Map", "Dict")
# The deepest object that is tried where none of the wanted depth exists.
_DEEPEST = 24


class _Class:
    """A class that objects are made of."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.cls = _core.class_of(key)
        info = _core.type_info(self.cls)
        assert info is not None
        self.is_var = info.kind == "var"
        self.is_scope = info.scope
        self.is_enum = issubclass(self.cls, Enum)
        by_name: dict[str, Field] = {field.name: field for field in fields(self.cls)}
        # A definition counts for the fields that comparison visits after it.
        self.fields = [by_name[name] for name in info.visit_order if by_name[name].init]
        if self.is_enum:
            self.fields = []


class Maker:
    """Makes objects for one strategy.

    Args:
        depth: how deep objects nest, as far as the classes allow.
        size: the most elements of a container.
        nodes: the number of objects after which the smallest objects complete a value.
        given: strategies for the values of Python types and classes, by type key or origin.
    """

    def __init__(
        self, st: Any, dialect: str, depth: int, size: int, nodes: int, given: Mapping[str, Any]
    ) -> None:
        self.st, self.dialect = st, dialect
        self.depth, self.size, self.nodes, self.given = depth, size, nodes, given
        self._classes: dict[str, _Class] = {}
        self._below: dict[str, list[str]] = {}
        self._possible: dict[Any, bool] = {}

    def class_of(self, key: str) -> _Class:
        if key not in self._classes:
            self._classes[key] = _Class(key)
        return self._classes[key]

    def concrete(self, key: str) -> list[str]:
        """The classes whose objects fit where this class is wanted."""
        if key not in self._below:
            base = _core.class_of(key)
            extending = [
                (other, cls)
                for other in _core.registered_type_keys()
                if issubclass(cls := _core.class_of(other), base)
            ]
            bases = {parent for _, cls in extending for parent in cls.__mro__[1:]}
            self._below[key] = [
                other for other, cls in extending if not _is_abstract(cls, cls in bases)
            ]
        return self._below[key]

    def of_dialect(self) -> list[str]:
        """The classes for fields that hold any object."""
        if "" not in self._below:
            keys = [
                key
                for key in _core.registered_type_keys()
                if key.startswith(f"{self.dialect}.") and _core.class_of(key) is not Enum
            ]
            self._below[""] = [key for key in keys if key in self.concrete(key)]
        return self._below[""]

    def candidates(self, schema: TypeSchema) -> list[str]:
        if schema.origin == "Object":
            return self.of_dialect()
        return self.concrete(schema.type_key) if schema.type_key is not None else []

    # ---- which objects exist -----------------------------------------------------

    def can(self, schema: TypeSchema, bound: frozenset[str], depth: int) -> bool:
        """Returns whether a value exists whose objects nest at most this deep (a bound variable does
        not count), where variables of some classes are bound.
        """
        if schema.origin in self.given:
            return True
        if schema.type_key is not None or schema.origin == "Object":
            return any(self.can_make(key, bound, depth) for key in self.candidates(schema))
        if schema.origin == "Union":
            return any(self.can(part, bound, depth) for part in schema.args)
        if schema.origin == "tuple":
            return all(self.can(part, bound, depth) for part in schema.args)
        return schema.origin not in ("Callable", "ctypes.c_void_p")

    def can_make(self, key: str, bound: frozenset[str], depth: int) -> bool:
        """As `can`, for the objects of one class."""
        if key in self.given or key in bound:
            return True
        made = self.class_of(key)
        if made.is_enum or made.is_var or depth < 0:
            return made.is_enum
        asked = (key, bound, depth)
        if asked not in self._possible:
            self._possible[asked] = self._can_fill(made, bound, depth - 1)
        return self._possible[asked]

    def _can_fill(self, made: _Class, bound: frozenset[str], depth: int) -> bool:
        for field in made.fields:
            if field.structural_eq in ("def", "def-simple"):
                bound |= self.variables(field.schema)
            elif not field.has_default() and not self.can(field.schema, bound, depth):
                return False
        return True

    def variables(self, schema: TypeSchema) -> frozenset[str]:
        """The variables that a definition of a schema binds in any case."""
        keys = self.candidates(schema)
        if keys and all(self.class_of(key).is_var for key in keys):
            return frozenset(keys)
        return frozenset()


def _is_abstract(cls: type, is_base: bool) -> bool:
    init: Any = cls.__dict__.get("__init__")
    if inspect.isabstract(cls) or getattr(init, "is_abstract", False):
        return True
    # A base for others without anything of its own.
    return is_base and not fields(cls)


class Draw:
    """Makes one value."""

    def __init__(self, maker: Maker, draw: Callable[[Any], Any]) -> None:
        self.maker, self.draw, self.st = maker, draw, maker.st
        self.left = maker.nodes
        # The bound variables of each open scope, with their type keys.
        self.scopes: list[list[tuple[str, Any]]] = [[]]
        self.free: dict[str, Any] = {}

    def bound(self) -> frozenset[str]:
        return frozenset(key for scope in self.scopes for key, _ in scope)

    def value(self, schema: TypeSchema, depth: int, region: str | None, place: str) -> Any:
        """A value of a schema; `region` is the kind of definition around, or None."""
        maker, st = self.maker, self.st
        origin = schema.origin
        if origin in maker.given:
            return self.draw(maker.given[origin])
        if schema.type_key is not None or origin == "Object":
            return self.object(schema, depth, region, place)
        if origin in ("Any", "Value") and self.is_object_wanted(depth, region):
            return self.object(TypeSchema("Object"), depth, region, place)
        if origin == "Optional":
            inner = schema.args[0]
            exists = region is not None or maker.can(inner, self.bound(), depth)
            if not exists or self.draw(st.booleans()):
                return None
            return self.value(inner, depth, region, place)
        if origin == "Union":
            bound = self.bound()
            parts = [part for part in schema.args if maker.can(part, bound, depth)]
            part = self.draw(st.sampled_from(parts or list(schema.args)))
            return self.value(part, depth, region, place)
        if origin == "tuple":
            return tuple(self.value(part, depth, region, place) for part in schema.args)
        if origin in _SEQUENCES or origin in _MAPS:
            return self.container(schema, depth, region, place)
        return self.draw(self.plain(schema, place))

    def is_object_wanted(self, depth: int, region: str | None) -> bool:
        """Returns whether a field for anything gets an object of the dialect."""
        if region is not None:
            return any(self.maker.class_of(key).is_var for key in self.maker.of_dialect())
        possible = self.maker.can(TypeSchema("Object"), self.bound(), depth)
        return possible and self.left > 0 and self.draw(self.st.booleans())

    def container(self, schema: TypeSchema, depth: int, region: str | None, place: str) -> Any:
        maker = self.maker
        possible = all(
            region is not None or maker.can(part, self.bound(), depth) for part in schema.args
        )
        most = maker.size if possible and self.left > 0 else 0
        count = self.draw(self.st.integers(0, most))
        if schema.origin in _SEQUENCES:
            element = schema.args[0]
            return [self.value(element, depth, region, place) for _ in range(count)]
        key, item = schema.args
        pairs = [
            (self.value(key, 0, region, place), self.value(item, depth, region, place))
            for _ in range(count)
        ]
        return dict(pairs)

    def object(self, schema: TypeSchema, depth: int, region: str | None, place: str) -> Any:
        maker, bound = self.maker, self.bound()
        keys = maker.candidates(schema)
        if region is not None:
            # Definitions make variables, or patterns with variables.
            variables = [key for key in keys if maker.class_of(key).is_var]
            if variables:
                return self.make(self.draw(self.st.sampled_from(variables)), depth, region)
        # A value that has become large is completed with the smallest objects.
        first = depth if self.left > 0 else 0
        for limit in (first, *range(max(first, 0) + 1, _DEEPEST)):
            fit = [key for key in keys if maker.can_make(key, bound, limit)]
            if fit:
                return self.one_of(fit, limit, region)
        variables = [key for key in keys if maker.class_of(key).is_var]
        if not variables:
            raise TypeError(
                f"strategy: no object of {schema!r} can be made for {place} (a class that needs "
                "itself, or a field that holds a function); give a strategy for its class in "
                "`strategies`"
            )
        return self.free_variable(variables, depth)

    def one_of(self, keys: list[str], depth: int, region: str | None) -> Any:
        key = self.draw(self.st.sampled_from(keys))
        if key in self.maker.given:
            return self.draw(self.maker.given[key])
        if self.maker.class_of(key).is_var:
            known = [var for scope in self.scopes for of, var in scope if of == key]
            return self.draw(self.st.sampled_from(known))
        return self.make(key, depth, region)

    def free_variable(self, keys: list[str], depth: int) -> Any:
        """A variable where nothing is bound and nothing else fits: a free one."""
        key = self.draw(self.st.sampled_from(keys))
        if key not in self.free:
            self.free[key] = self.make(key, depth, None)
        return self.free[key]

    def make(self, key: str, depth: int, region: str | None) -> Any:
        made = self.maker.class_of(key)
        if made.is_enum:
            return self.draw(self.st.sampled_from(list(made.cls.all_entries())))
        self.left -= 1
        if made.is_scope:
            self.scopes.append([])
        values: dict[str, Any] = {}
        for field in made.fields:
            inside = self.region_of(made, field, region)
            known = field.schema.origin in self.maker.given
            possible = known or inside is not None or self.is_possible(field, depth - 1)
            if field.has_default() and not possible:
                continue
            values[field.name] = self.value(
                field.schema, depth - 1, inside, f"{made.key}.{field.name}"
            )
        if made.is_scope:
            self.scopes.pop()
        node = made.cls(**values)
        if made.is_var and region is not None:
            self.scopes[-1].append((key, node))
        return node

    def is_possible(self, field: Field, depth: int) -> bool:
        return self.maker.can(field.schema, self.bound(), depth)

    def region_of(self, made: _Class, field: Field, region: str | None) -> str | None:
        if field.structural_eq in ("def", "def-simple"):
            return field.structural_eq
        if field.structural_eq in ("use", "ignore"):
            return None
        # The fields of a variable that is bound alone are uses.
        return None if region == "def-simple" and made.is_var else region

    def plain(self, schema: TypeSchema, place: str) -> Any:
        """A strategy for values without objects inside."""
        st, origin, size = self.st, schema.origin, self.maker.size
        if origin == "Literal":
            return st.sampled_from(list(schema.values))
        integers = st.integers(-(2**63), 2**63 - 1)
        simple: dict[str, Callable[[], Any]] = {
            "None": st.none,
            "bool": st.booleans,
            "int": lambda: integers,
            "BigInt": st.integers,
            "float": st.floats,
            "complex": st.complex_numbers,
            "str": lambda: st.text(max_size=2 * size),
            "bytes": lambda: st.binary(max_size=2 * size),
            "dtype": lambda: st.sampled_from([_core_dtype(name) for name in _DTYPES]),
            "Device": lambda: st.builds(_device, st.integers(0, 3)),
            "Shape": lambda: st.builds(_shape, st.lists(st.integers(0, 8), max_size=size)),
            "Tensor": lambda: st.builds(_tensor, st.lists(st.integers(-9, 9), max_size=size)),
            "Any": lambda: st.none() | st.booleans() | integers | st.text(max_size=size),
            "Value": lambda: st.none() | st.booleans() | integers | st.text(max_size=size),
        }
        if origin not in simple:
            raise TypeError(
                f"strategy: no values of {schema!r} can be made for {place}; give the field a "
                "default, or its class a strategy in `strategies`"
            )
        return simple[origin]()


def _core_dtype(name: str) -> Any:
    from isoform import dtype

    return dtype(name)


def _device(index: int) -> Any:
    from isoform import device

    return device("cpu", index)


def _shape(dims: list[int]) -> Any:
    from isoform import Shape

    return Shape(tuple(dims))


def _tensor(numbers: list[int]) -> Any:
    import numpy as np

    from isoform import Tensor

    return Tensor(np.array(numbers, dtype="int64"))


def strategy_of(
    cls: type, *, depth: int, size: int, nodes: int, strategies: Mapping[Any, Any]
) -> Any:
    """See `isoform.testing.strategy`."""
    try:
        from hypothesis import strategies as st
    except ImportError as error:
        raise ImportError(
            "isoform.testing.strategy needs the package hypothesis: pip install hypothesis"
        ) from error
    _pending.complete_all()
    fields(cls)
    schema = TypeSchema.from_annotation(cls)
    given = {TypeSchema.from_annotation(key).origin: value for key, value in strategies.items()}
    info = _core.type_info(cls)
    assert info is not None
    maker = Maker(st, info.dialect, depth, size, nodes, given)

    @st.composite
    def objects(draw: Callable[[Any], Any]) -> Any:
        if maker.class_of(info.type_key).is_var:
            return Draw(maker, draw).make(info.type_key, depth, None)
        return Draw(maker, draw).value(schema, depth, None, info.type_key)

    return objects()
