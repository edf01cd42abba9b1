# Written by scripts/make_stubs.py; do not edit.
"""The native module. What users need of it, `isoform` gives them."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

from isoform.types.onnx import Program

KWARGS: Final[Any]

MISSING: Final[Any]

__version__: Final[str]

@final
class InitFunction:
    """The generated constructor of a class as a function of the instance."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...
    def __repr__(self, /) -> str: ...

class Object(metaclass=ObjectMeta):
    """The base of all classes of nodes, and of the containers.

    Instances stand for objects of the core: `==` and `hash` are identity unless
    the class asks otherwise, and one object has one instance while it is in use.
    """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...

class ObjectMeta(ABCMeta):
    """The metaclass of Object.

    It gives every class empty `__slots__` unless the class has its own, and
    makes calls of registered classes fast.
    """

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...

@final
class OnnxModel:
    """A loaded ONNX model; see `isoform.onnx.load`."""

    def __repr__(self, /) -> str: ...
    @property
    def constant_bytes(self) -> int:
        """Bytes of all constants."""
    @property
    def dropped_node_count(self) -> int:
        """Nodes that no output needs; they are not part of the program."""
    @property
    def function_count(self) -> int:
        """Local functions that the program calls."""
    @property
    def initializer_count(self) -> int:
        """Initializers of the main graph and of all bodies."""
    @property
    def node_count(self) -> int:
        """Nodes in the file, those of bodies and functions included."""
    @property
    def path(self) -> Path | None:
        """The file the model was loaded from."""
    @property
    def program(self) -> Program:
        """What the model computes, as an object of `onnx.Program`."""

@final
class Property:
    """A field as an attribute of its class.

    `Class.field` is the descriptor itself; `Class.field.set(node, value)`
    writes the field even where the class or the field is frozen.
    """

    def __delete__(self, instance: Any, /) -> None: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...
    def __repr__(self, /) -> str: ...
    def __set__(self, instance: Any, value: Any, /) -> None: ...
    @property
    def frozen(self) -> bool:
        """Whether assignment is refused."""
    def get(self, /, node: Any) -> Any:
        """Reads the field of a node."""
    @property
    def name(self) -> str:
        """The name of the field."""
    def set(self, /, node: Any, value: Any) -> None:
        """Writes the field of a node, also where it is frozen.

        Raises TypeError when the value does not fit.
        """

@final
class Schema:
    """A compiled schema: what a field or an element accepts."""

    def __new__(cls, spec: Any) -> Schema: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def check(self, /, value: Any) -> None:
        """Raises TypeError unless the value converts."""
    def convert(self, /, value: Any) -> Any:
        """The value as a field of this schema gives it back."""

@final
class TypeField:
    """A field of a registered type."""

    def __repr__(self, /) -> str: ...
    @property
    def annotation(self) -> str:
        """What the field accepts, as an annotation would say it."""
    @property
    def compare(self) -> bool: ...
    @property
    def default(self) -> Any:
        """The default value, or MISSING."""
    @property
    def default_factory(self) -> Any:
        """The default factory, or MISSING."""
    @property
    def doc(self) -> str | None: ...
    @property
    def frozen(self) -> bool: ...
    @property
    def has_default(self) -> bool: ...
    @property
    def hash(self) -> bool: ...
    @property
    def init(self) -> bool: ...
    @property
    def kw_only(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def offset(self) -> int:
        """Where the field lies, in bytes from the start of the object."""
    @property
    def repr(self) -> bool: ...
    @property
    def size(self) -> int:
        """The size of the field in bytes."""
    @property
    def structural_eq(self) -> str | None:
        """How the field takes part in structural comparison, as `field` spells it."""

@final
class TypeInfo:
    """A registered type: key, parent, fields, structural kind."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    @property
    def doc(self) -> str: ...
    @property
    def fields(self) -> tuple[TypeField, ...]:
        """The fields that the type adds to those of its parent."""
    @property
    def init_parameters(self) -> tuple[list[str], int]:
        """The names of the constructor's parameters in order, and how many of
        them may be given by position.
        """
    @property
    def is_builtin(self) -> bool: ...
    @property
    def kind(self) -> str | None:
        """The structural kind, as `py_class` spells it."""
    @property
    def parent_type_info(self) -> TypeInfo | None:
        """The parent type; None for a type that extends `Object` only."""
    @property
    def scope(self) -> bool: ...
    @property
    def type_cls(self) -> type[Any]:
        """The Python class."""
    @property
    def type_index(self) -> int:
        """The index of the type in this process."""
    @property
    def type_key(self) -> str: ...

def _set_native_hook(hook: Any) -> None:
    """Sets, once, the function that completes the classes made for native types,
    with the methods that the Python layer gives to every class of nodes.
    """

def _set_python_types(dtype: Any, device: Any, shape: Any) -> None:
    """Tells the conversions which classes stand for data types (a subclass of
    str), devices and shapes (a subclass of tuple). Called once, by the package.
    """

def bind_class(cls: type[Any], type_key: str) -> TypeInfo:
    """Makes a class the Python class of a type that was declared natively:
    fields become properties, and a constructor is made unless the class has
    its own.

    Raises KeyError for an unknown type key, ValueError when the type has a
    class already.
    """

def check_laws(values: Any, map_free_vars: bool = ..., skip_tensor_content: bool = ...) -> Any:
    """Checks that equality is reflexive, symmetric and transitive on the given
    values, and that equal values have the same hash and digest. Cubic in the
    number of values.

    Raises AssertionError with the law and the values that break it.
    """

def check_types(values: Any) -> None:
    """Checks on the given values what their types promise by their kind: nothing
    below a `const-tree` is a variable or a `dag` node.

    Raises AssertionError with the type and the place.
    """

def class_of(type_key: str) -> type[Any]:
    """The Python class of a type; made on the spot for a type declared natively
    that has none yet.

    Raises KeyError for an unknown type key.
    """

def cli_main(argv: Sequence[str]) -> int:
    """Runs the command `isoform` with these arguments, the program's name first,
    and returns its exit status: 0 equal or done, 1 different, 2 trouble.

    Writes to the process's standard output and error themselves, not to
    `sys.stdout`. Other Python threads run meanwhile.
    """

def collect() -> Any:
    """Frees the objects of the core that only keep each other alive, and says how
    many there were.

    Python's own collector calls it after each full collection
    (`gc.collect()` does one), so there is seldom a reason to call it.
    """

def onnx_load(path: str | PathLike[str], *, mmap: bool = ..., io_names: bool = ...) -> OnnxModel:
    """Loads a model; see `isoform.onnx.load`."""

def oracle_canonical(value: Any, map_free_vars: bool = ..., skip_tensor_content: bool = ...) -> Any:
    """A text that two values share exactly if they are structurally equal, in
    this process.

    Raises TypeError for types with hooks of their own, ValueError for cycles,
    RecursionError for values nested too deeply.
    """

def oracle_equal(
    lhs: Any, rhs: Any, map_free_vars: bool = ..., skip_tensor_content: bool = ...
) -> bool:
    """The answer of the slow oracle, which shares no code with
    `structural_equal`.

    Raises what `structural_equal` raises, and RecursionError for values nested
    deeper than some hundred levels.
    """

def register_class(
    cls: type[Any], type_key: str, parent: type[Any] | None, fields: Any, options: dict[str, Any]
) -> TypeInfo:
    """Registers a class; see `isoform.dataclasses.py_class`, which calls this.

    All or nothing: after an error nothing is registered, and the class is as
    it was.
    """

def registered_type_keys() -> list[str]:
    """The keys of all registered types, sorted."""

def rust_family() -> Any:
    """Registers the node types of the library's own tests, which are declared in
    Rust, and gives their Python classes by name.
    """

def type_info(of: Any) -> TypeInfo:
    """What is registered about a type, by its key, its class or one of its
    objects.

    Raises KeyError for an unknown key, TypeError for anything that stands for
    no type.
    """
