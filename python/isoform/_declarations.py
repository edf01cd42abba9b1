"""Findings about declarations of node types, for `isoform.testing.check_declarations`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.dataclasses import _again, _pending, fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoform.core import TypeSchema
    from isoform.dataclasses import Field

_DEFINITIONS = ("def", "def-simple")
# Fields that hold any value, so that nothing is known about their parts.
_ANYTHING = frozenset(["Any", "Object", "Value"])
# Names for people, which comparison should ignore in variables.
_NAMES = frozenset(["name", "name_hint"])


@dataclass(frozen=True)
class Finding:
    """A declaration that is probably not meant as it is.

    Attributes:
        type_key: the type key of the class.
        field: the name of the field, or None for the class as a whole.
        reason: the problem, and the remedy, in a sentence.
    """

    type_key: str
    field: str | None
    reason: str

    def __str__(self) -> str:
        """One line: the place and the reason."""
        place = self.type_key if self.field is None else f"{self.type_key}.{self.field}"
        return f"{place}: {self.reason}"


@dataclass
class _Declared:
    """A registered class."""

    cls: type
    info: _core.TypeInfo
    fields: tuple[Field, ...]

    def definitions(self) -> list[Field]:
        return [field for field in self.fields if field.structural_eq in _DEFINITIONS]

    def compared(self) -> list[Field]:
        return [field for field in self.fields if field.structural_eq != "ignore"]


class Declarations:
    """All registered classes, and the classes that their fields may hold.

    Fields for any object count as such in the dialects that are checked; elsewhere, they are
    taken to hold no object of these dialects.
    """

    def __init__(self) -> None:
        self.dialects: set[str] = set()
        _pending.complete_all()
        self.known: dict[str, _Declared] = {}
        for key in _core.registered_type_keys():
            cls = _core.class_of(key)
            info = _core.type_info(cls)
            if info is None or info.is_builtin:
                continue
            try:
                declared = fields(cls)
            except TypeError:
                # The class waits for names that do not exist.
                continue
            self.known[key] = _Declared(cls, info, declared)

    def held_by(self, schema: TypeSchema) -> set[str] | None:
        """The type keys of the objects that a value of a schema may hold directly or in
        containers; None if it may hold any object.
        """
        held: set[str] = set()
        schemas = [schema]
        while schemas:
            part = schemas.pop()
            schemas.extend(part.args)
            if part.origin in _ANYTHING:
                return None
            if part.type_key in self.known:
                held |= self.extending(part.type_key)
        return held

    def extending(self, key: str) -> set[str]:
        """The type keys of a class and of all classes that extend it."""
        cls = self.known[key].cls
        return {other for other, one in self.known.items() if issubclass(one.cls, cls)}

    def reachable(self, start: Iterable[TypeSchema]) -> set[str] | None:
        """The type keys of the objects that may occur below values of some schemas; None if
        any object may.
        """
        found: set[str] = set()
        schemas = list(start)
        while schemas:
            held = self.held_by(schemas.pop())
            if held is None:
                return None
            for key in held - found:
                found.add(key)
                schemas.extend(field.schema for field in self.known[key].compared())
        return found

    def bindable(self) -> set[str] | None:
        """The type keys of the variables that some field binds; None if some field may bind
        any variable.
        """
        found: set[str] = set()
        for one in self.known.values():
            for field in one.definitions():
                held = self.bound_by(field)
                if held is not None:
                    found |= held
                elif one.info.dialect in self.dialects:
                    return None
        return found

    def bound_by(self, field: Field) -> set[str] | None:
        """The type keys of the variables that a definition field may bind, or None."""
        deep = field.structural_eq == "def"
        held = self.reachable([field.schema]) if deep else self.held_by(field.schema)
        return None if held is None else {key for key in held if self.is_var(key)}

    def is_var(self, key: str) -> bool:
        return self.known[key].info.kind == "var"

    def findings(self, chosen: Iterable[str]) -> list[Finding]:
        """The findings about some classes, by their type keys."""
        chosen = list(chosen)
        self.dialects = {self.known[key].info.dialect for key in chosen}
        bindable = self.bindable()
        in_scopes = self._in_scopes()
        found: list[Finding] = []
        for key in chosen:
            one = self.known[key]
            found.extend(self._of_variable(key, one, bindable))
            found.extend(self._of_scope(key, one))
            found.extend(self._of_definitions(key, one, in_scopes))
            if one.info.kind == "singleton" and one.compared() and not _is_enum(one.cls):
                found.append(
                    Finding(
                        key,
                        None,
                        "is a singleton with fields: an object is equal to itself only, whatever "
                        'its fields, so two parses of a text differ; write structural_eq="tree"',
                    )
                )
        return found

    def _of_variable(self, key: str, one: _Declared, bindable: set[str] | None) -> list[Finding]:
        found: list[Finding] = []
        if one.info.kind != "var":
            return found
        # A class for other classes may be bound through these.
        if bindable is not None and not self.extending(key) & bindable:
            found.append(
                Finding(
                    key,
                    None,
                    "is a variable that no field of any class binds, so programs with different "
                    'variables are never equal; write field(structural_eq="def") for the fields '
                    "that bind it",
                )
            )
        found.extend(
            Finding(
                key,
                field.name,
                "is compared, so programs that differ in the names of variables differ; write "
                'field(structural_eq="ignore")',
            )
            for field in one.compared()
            if field.name in _NAMES and field.schema.origin == "str"
        )
        return found

    def _of_scope(self, key: str, one: _Declared) -> list[Finding]:
        if not one.info.scope or any(True for _ in one.definitions()):
            return []
        inside = self.reachable(field.schema for field in one.compared())
        if inside is None or any(self.known[other].definitions() for other in inside):
            return []
        reason = (
            "is a scope without definitions: nothing inside of it binds a variable; write "
            'field(structural_eq="def") for the field that binds, or leave out scope=True'
        )
        return [Finding(key, None, reason)]

    def _of_definitions(
        self, key: str, one: _Declared, in_scopes: set[str] | None
    ) -> list[Finding]:
        found: list[Finding] = []
        for field in one.definitions():
            bound = self.bound_by(field)
            if bound is not None and not bound:
                reason = (
                    f"is a definition, but {field.schema!r} holds no variable; declare the class of "
                    'its variables with structural_eq="var", or leave out structural_eq'
                )
                found.append(Finding(key, field.name, reason))
            elif in_scopes is not None and key not in in_scopes:
                reason = (
                    "binds variables without a scope around it, so they stay bound to the end of "
                    "the whole value; write scope=True for the class, or for a class around it"
                )
                found.append(Finding(key, field.name, reason))
        return found

    def _in_scopes(self) -> set[str] | None:
        """The type keys of scopes and of the objects that may occur below them; None if any
        object may.
        """
        found: set[str] = set()
        for key, one in self.known.items():
            if one.info.scope:
                inside = self.reachable(field.schema for field in one.compared())
                if inside is None and one.info.dialect in self.dialects:
                    return None
                found |= {key, *(inside or ())}
        return found


def _is_enum(cls: type) -> bool:
    from isoform.dataclasses import Enum

    return issubclass(cls, Enum)


def _is_of_program(cls: type) -> bool:
    """True for a class that Python declares outside of this package."""
    own = __name__.partition(".")[0]
    return _again.DECLARATION in cls.__dict__ and cls.__module__.partition(".")[0] != own


def chosen(declarations: Declarations, wanted: tuple[Any, ...]) -> list[str]:
    """The type keys of the classes named by classes, dialects or type keys; without names,
    of all classes that programs declare in Python.

    Raises:
        TypeError: an argument is neither a class nor a str, or a class waits for names.
        ValueError: no registered class belongs to an argument.
    """
    if not wanted:
        return [key for key, one in declarations.known.items() if _is_of_program(one.cls)]
    found: dict[str, None] = {}
    for one in wanted:
        if isinstance(one, type):
            if issubclass(one, _core.Object):
                # Says which names are missing.
                fields(one)
            keys = [key for key, known in declarations.known.items() if known.cls is one]
        elif isinstance(one, str):
            keys = [k for k in declarations.known if k == one or k.startswith(f"{one}.")]
        else:
            raise TypeError(
                f"check_declarations: expected classes, or the beginning of type keys as a str, "
                f"got {type(one).__name__}"
            )
        if not keys:
            raise ValueError(f"check_declarations: no registered class belongs to {one!r}")
        found.update(dict.fromkeys(keys))
    return list(found)
