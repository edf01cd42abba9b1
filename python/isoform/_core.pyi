# Written by scripts/make_stubs.py; do not edit.
"""The native module. What users need of it, `isoform` gives them."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

from isoform.types.onnx import Program

KWARGS: Final[Any]

MISSING: Final[Any]

__version__: Final[str]

@final
class AccessPath:
    """A place inside a value, as steps from its root.

    Paths are compared and hashed by their steps; object keys count by
    identity. Made from `AccessPath.root()`.
    """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def array_item(self, /, index: Any) -> Any:
        """The path to the element at this position."""
    def array_item_missing(self, /, index: Any) -> Any:
        """The path to an element that is not there."""
    def attr(self, /, name: str) -> Any:
        """The path to the field of this name. O(depth)."""
    def attr_missing(self, /, name: str) -> Any:
        """The path to a field that is not there."""
    @property
    def depth(self) -> Any:
        """How many steps there are."""
    def extend(self, /, step: Any) -> Any:
        """The path one step longer."""
    def get(self, /, root: Any) -> Any:
        """What is at this place below a root.

        Raises AttributeError, IndexError or KeyError for a step that does not
        exist, TypeError for one that the value does not support; the message
        names the step.
        """
    def is_prefix_of(self, /, other: Any) -> Any:
        """Whether the other path lies at or below this place."""
    def map_item(self, /, key: Any) -> Any:
        """The path to the value under this key."""
    def map_item_missing(self, /, key: Any) -> Any:
        """The path to a key that is not there."""
    @property
    def parent(self) -> Any:
        """The path without its last step; None for the root. O(1)."""
    @staticmethod
    def parse(text: str) -> Any:
        """The path whose text this is.

        Raises ValueError for a text that no path has, and for one with an
        object as a key, which the text does not tell. O(length).
        """
    @staticmethod
    def root() -> Any:
        """The path of the root itself."""
    @property
    def step(self) -> Any:
        """The last step; None for the root."""
    def to_steps(self, /) -> Any:
        """The steps, outermost first, as a tuple."""

@final
class AccessStep:
    """One step of an access path."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    @property
    def key(self) -> Any:
        """The name of the field, the position or the key."""
    @property
    def kind(self) -> Any:
        """What the step goes through, an `AccessKind`."""

@final
class Column:
    """An attribute whose name was looked up once."""

    def __new__(cls, name: Any) -> Column: ...
    def __bool__(self, /) -> bool: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self, /) -> Iterator[Any]: ...
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def get(self, /, of: Any, default: Any = ..., *, inherit: bool = ...) -> Any:
        """The value of a type or of the type of a node; `default` if there is
        none. O(1).

        With `inherit` the nearest ancestor answers for a type without one.
        """
    def items(self, /) -> list[tuple[type[Any], Any]]:
        """The types that have a value, with it, in the order of registration."""
    def keys(self, /) -> list[type[Any]]:
        """The types that have a value, in the order of their registration."""
    @property
    def name(self) -> str:
        """The name of the attribute."""
    def set(self, /, of: Any, value: Any, override: bool = ...) -> None:
        """Sets the value of a type. A value that is set already is replaced only
        with `override`.

        Raises ValueError for a value that is set already, TypeError for one
        that the attribute is not declared for.
        """
    def values(self, /) -> list[Any]:
        """The values, in the order in which their types were registered."""

@final
class Hole:
    """A variable of a template that stands for any part of a value.

    `cls` asks for objects of a class or one that extends it. `guard` is called
    with the part and says whether the hole stands for it; it must give one
    answer for equal parts.
    """

    def __new__(
        _cls, var: Any, cls: type[Any] | None = ..., guard: Callable[[Any], bool] | None = ...
    ) -> Hole: ...
    @property
    def var(self) -> Any:
        """The variable."""

@final
class InitFunction:
    """The generated constructor of a class as a function of the instance."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...
    def __repr__(self, /) -> str: ...

@final
class MapIterator:
    """An iterator over the keys, values or items of a map or a dict."""

    def __iter__(self, /) -> Iterator[Any]: ...
    def __next__(self, /) -> Any: ...

@final
class Match:
    """What the variables of a template stand for in one value.

    `match[var]` is the part of a hole, or the partner of another variable.
    """

    def __contains__(self, key: Any, /) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __repr__(self, /) -> str: ...
    def get(self, /, var: Any, default: Any = ...) -> Any:
        """What a variable stands for, or a default."""
    @property
    def holes(self) -> Any:
        """The holes and the parts that they stand for, as pairs."""
    def instantiate(self, /, template: Any) -> Any:
        """The template with what the holes and variables stand for; None when a
        variable would come out of the scope that binds it, or be captured by
        another binder.

        Variables that `template` binds and the pattern does not are new ones.
        """
    @property
    def path(self) -> Any:
        """Where it is below the root that was searched; None of a match by itself.

        O(depth) each time.
        """
    @property
    def value(self) -> Any:
        """The value that matches."""
    @property
    def vars(self) -> Any:
        """The other variables of the template and their partners, as pairs."""

@final
class NodeDriver:
    """The engine of one visit."""

    def __new__(
        cls, visitor: Any, rule: str, generators: type[Any], later: type[Any]
    ) -> NodeDriver: ...
    def below(self, /, value: Any) -> Any:
        """The result for a value by way of its children, whatever method it has."""
    def finish(self, /, value: Any, generator: Any) -> Any:
        """The result of a method of the open node that is a generator."""
    def image(self, /, node: Any) -> Any:
        """What a node became where it was met before; None if it was not."""
    @property
    def open(self) -> Any:
        """The node whose method runs, or None."""
    def remap(self, /, var: Any, value: Any) -> Any:
        """Records what comes in place of a variable wherever it is met from now
        on.
        """
    def remap_uses(self, /, var: Any, value: Any) -> Any:
        """Records what comes in place of the uses of a variable that are met from
        now on, whatever method it has.
        """
    def start(self, /, value: Any) -> Any:
        """The result for the value that the whole visit is about.

        A RecursionError names the place, and has it as its `path`.
        """
    def visit(self, /, value: Any) -> Any:
        """The result for a value that a method asks for while it runs."""

class Object(metaclass=ObjectMeta):
    """The base of all classes of nodes, and of the containers.

    Instances stand for objects of the core: `==` and `hash` are identity unless
    the class asks otherwise, and one object has one instance while it is in use.
    """

    def __copy__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __deepcopy__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __reduce__(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]: ...
    def __repr__(self, /) -> str: ...
    def same_as(self, *args: Any, **kwargs: Any) -> bool: ...

class ObjectMeta(ABCMeta):
    """The metaclass of Object.

    It gives every class empty `__slots__` unless the class has its own, and
    makes calls of registered classes fast.
    """

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
class Pattern:
    """A template with holes.

    `template` is any value. `holes` are variables in it that stand for any
    part: one of them, several, `Hole`s, or a dict from variables to what is
    asked of the part (None, a class, or a function that says whether it fits).
    With `enable_auto_mapping`, the other free variables map to those of the
    value one to one, without it each to itself; bound ones always map.

    Raises TypeError when a hole is no variable; ValueError when a hole is given
    twice, does not occur in the template, or stands in a definition field or
    in the key of a map.
    """

    def __new__(
        cls, template: Any, holes: Any = ..., enable_auto_mapping: bool = ...
    ) -> Pattern: ...
    def __repr__(self, /) -> str: ...
    @property
    def enable_auto_mapping(self) -> Any:
        """Whether free variables map."""
    def explain(self, /, value: Any) -> Any:
        """Why a value does not match, with the template on the left; None when it
        matches.
        """
    def find_all(self, /, root: Any) -> Any:
        """Every match below `root`, the root included, each with its `path`;
        outermost first, shared objects once.

        Keys of maps, and the variables that definition fields bind, are not
        looked at. The cost is that of a walk, and of one match for each object of
        the template's type; a path is made when it is asked for.
        """
    @property
    def holes(self) -> Any:
        """The variables that are holes."""
    def match(self, /, value: Any) -> Any:
        """Matches the whole value; None when it is no instance of the template.

        Raises what comparison raises, and what guards raise. O(template), but
        for holes that occur several times, whose parts are compared.
        """
    @property
    def template(self) -> Any:
        """The template."""

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
class Rewritten:
    """What became of a value that was rewritten."""

    def __repr__(self, /) -> str: ...
    @property
    def applied(self) -> Any:
        """How many times each rule was applied, in the order of the rules."""
    @property
    def value(self) -> Any:
        """The value to which no rule applies any more."""

@final
class Rule:
    """A pattern and what comes in the place of what it matches.

    `replacement` is a template over the variables of the pattern, or a function
    of the `Match` that gives the new value, or None where the rule does not
    apply. `guard` is a function of the `Match` that says whether it applies.

    Raises ValueError when a template binds a hole or a free variable of the
    pattern, or uses a variable that only the pattern binds.
    """

    def __new__(cls, pattern: Pattern, replacement: Any, guard: Any = ...) -> Rule: ...
    def __repr__(self, /) -> str: ...
    def apply(self, /, value: Any) -> Any:
        """What comes in the place of a value; None where the rule does not apply."""
    @property
    def pattern(self) -> Any:
        """The pattern."""

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
class SequenceIterator:
    """An iterator over an array or a list."""

    def __iter__(self, /) -> Iterator[Any]: ...
    def __next__(self, /) -> Any: ...

@final
class StructuralMismatch:
    """Why two values are not structurally equal, and where.

    As a str, both sides as text, with the place underlined.
    """

    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def left(self) -> Any:
        """What is there on the left; None when nothing is."""
    @property
    def left_exists(self) -> Any:
        """Whether the left side has something there."""
    @property
    def left_path(self) -> Any:
        """Where the difference is in the left value."""
    @property
    def reason(self) -> Any:
        """Why they differ, a sentence."""
    def render(
        self, /, *, values: int = ..., lines: int = ..., width: int = ..., color: bool = ...
    ) -> str:
        """Both sides as text, with the place underlined.

        `values` and `lines` say how many values of a side, and how many lines
        above and below the place, are shown at most; `width` how many columns
        a line should have; `color` whether the text is coloured for a terminal.
        The cost depends on these and on the length of the paths only.
        """
    @property
    def right(self) -> Any:
        """What is there on the right; None when nothing is."""
    @property
    def right_exists(self) -> Any:
        """Whether the right side has something there."""
    @property
    def right_path(self) -> Any:
        """Where it is in the right value."""

@final
class StructuralMutator:
    """The running rewrite, for callbacks that rewrite children themselves.

    An object is rewritten once, in each kind of region if these are told
    apart, and its result is used wherever it is met again. Not for use after the rewrite has ended.
    """

    def _image(self, /, var: Any) -> Any:
        """What a variable became where it was met before; None if it was not."""
    def _remap_uses(self, /, var: Any, value: Any) -> Any:
        """Records what comes in place of the uses of a variable that are met from
        now on, whatever callback it has.
        """
    def def_region_kind(self, /) -> Any:
        """Whether variables are bound or used where the rewrite is now, a
        DefRegionKind.
        """
    def default_mutate(self, /, value: Any) -> Any:
        """The value with its children rewritten, whatever callback it has: by the
        hook `__s_mutate__` of its type, or by its fields. Of the object whose
        hook runs, the fields are rewritten.
        """
    def mutate(self, /, value: Any) -> Any:
        """The result for a value: that of its callback, or the value with its
        children rewritten if there is none.

        The same object when nothing changes. Raises ValueError for a value
        whose rewriting is not over, TypeError for a result that does not fit
        its field.
        """
    def var_remap_get(self, /, var: Any) -> Any:
        """What was recorded for a variable; None if nothing was."""
    def var_remap_set(self, /, var: Any, value: Any) -> Any:
        """Records what comes in place of a variable wherever it is met from now
        on without a callback of its own.
        """
    def with_def_region_kind(self, /, kind: Any, callback: Any) -> Any:
        """Calls a function without arguments with another kind of region, and
        returns what it returns.
        """

@final
class StructuralVisitor:
    """The running visit, for callbacks that visit children themselves.

    An object is visited once, in each kind of region if these are told apart;
    visiting it again does nothing. Not for use after the visit has ended.
    """

    def def_region_kind(self, /) -> Any:
        """Whether variables are bound or used where the visit is now, a
        DefRegionKind.
        """
    def default_visit(self, /, value: Any) -> Any:
        """Visits the children of a value, whatever callback the value has: by the
        hook `__s_visit__` of its type, or by its fields. Of the object whose
        hook runs, the fields are visited.
        """
    def visit(self, /, value: Any) -> Any:
        """Visits a value: its callback, or what lies below it if there is none.

        Returns None, or the VisitInterrupt that a callback answered. Raises
        ValueError for a value whose visit is not over.
        """
    def with_def_region_kind(self, /, kind: Any, callback: Any) -> Any:
        """Calls a function without arguments with another kind of region, and
        returns what it returns.
        """

@final
class TraitHandle:
    """What `implements` needs of a trait, under `__isoform_handle__` of its class."""

    def __new__(cls, name: str, marker: Any, view: Any, has_methods: bool) -> TraitHandle: ...
    @property
    def name(self) -> str:
        """The name of the attribute."""

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
    def dialect(self) -> str:
        """The dialect: what stands in the key before the last dot."""
    @property
    def doc(self) -> str: ...
    @property
    def fields(self) -> tuple[TypeField, ...]:
        """The fields that the type adds to those of its parent."""
    @property
    def init_function(self) -> Any:
        """The function that the constructor calls, if it does not take the fields."""
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
    def methods(self) -> Any:
        """The methods that the class marks with `isoform.method`."""
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
    @property
    def visit_name(self) -> str:
        """What the methods of visitors are called for the type, after `visit_`."""

@final
class TypeMethod:
    """A method that a class marks for others to find."""

    def __repr__(self, /) -> str: ...
    @property
    def doc(self) -> Any: ...
    @property
    def func(self) -> Any:
        """The function itself."""
    @property
    def is_static(self) -> Any:
        """Whether it takes no instance."""
    @property
    def name(self) -> Any:
        """The name of the method."""

@final
class VisitInterrupt:
    """What a callback answers to end a walk, with a value for its caller."""

    def __repr__(self, /) -> str: ...
    @property
    def value(self) -> Any:
        """What the walk was ended with."""

def _callable_of(function: Any) -> Any:
    """The Python callable that a function was made of; None if it is made of
    something else.
    """

def _describe_function(
    function: Any, known_as: Any, doc: str | None, parameters: Any, returns: Any
) -> Any:
    """Tells what is known about a callable: a new `Function` called `known_as` unless that
    is None, with documentation, and with a signature unless the parameters are
    None. Each of them is a name, a schema, whether it has a default, and the
    default.
    """

def _device_name(kind: Any) -> Any:
    """The name of a kind of device."""

def _device_parts(text: str) -> Any:
    """DLPack's number of a kind of device and the ordinal, from text."""

def _dtype_name(code: Any, bits: Any, lanes: Any) -> Any:
    """The name of a data type by DLPack's numbers."""

def _dtype_parts(text: str) -> Any:
    """Name, code, bits, lanes of a data type, and all of them packed."""

def _from_dlpack(value: Any, copy: Any) -> Any:
    """A tensor from an array; see `isoform.from_dlpack`."""

def _from_pickle(data: Any, cls: type[Any] = ..., modules: Any = ...) -> Any:
    """The inverse of `__reduce__`."""

def _install_container(*args: Any, **kwargs: Any) -> Any:
    """Makes a class the Python class of a container, and attaches its methods.

    Raises ValueError for the name of anything else.
    """

def _install_function(*args: Any, **kwargs: Any) -> Any:
    """Makes a class the Python class of functions, or of opaque values.

    Raises ValueError for the name of anything else.
    """

def _install_tensor(*args: Any, **kwargs: Any) -> Any:
    """Makes a class the Python class of tensors."""

def _methods_of(cls: type[Any]) -> list[tuple[str, Any]]:
    """The methods that are registered for exactly the type of a class: names and
    functions.
    """

def _register_global_func(name: str, function: Any, replace: bool) -> Any:
    """Registers a callable under a global name; the function as it is registered.

    Raises ValueError when the name is taken and `replace` is false.
    """

def _register_method(
    cls: type[Any], name: str, function: Any, is_static: Any, replace: bool
) -> None:
    """Registers a method of the type of a class. Its first argument is the object
    unless it is static.

    Raises TypeError for anything that is no class of a type or no callable,
    ValueError for the name of a field, and for one that is taken unless
    `replace`.
    """

def _require_type(key: Any, module: Any) -> Any:
    """Imports the module that declares a type, unless the type is known.

    Raises ImportError when that does not make it known.
    """

def _set_access_kind(*args: Any, **kwargs: Any) -> None:
    """Tells the paths which class the kinds of steps are members of. Called once,
    by the package.
    """

def _set_method_hook(hook: Any) -> None:
    """Sets, once, the function that gives classes the methods registered in Rust."""

def _set_native_hook(hook: Any) -> None:
    """Sets, once, the function that completes the classes made for native types,
    with the methods that the Python layer gives to every class of nodes.
    """

def _set_python_types(dtype: Any, device: Any, shape: Any) -> None:
    """Tells the conversions which classes stand for data types (a subclass of
    str), devices and shapes (a subclass of tuple). Called once, by the package.
    """

def _set_walk_enums(walk_result: Any, region_kind: Any) -> None:
    """Tells the walks the classes `WalkResult` and `DefRegionKind`. Called once,
    by the package.
    """

def _signature_of(
    function: Any,
) -> tuple[list[tuple[str | None, str, bool, Any, bool]], str, str] | None:
    """The parameters of a function, the text of its result's schema, and its
    language; None if they are not known.
    """

def _tensor_from_bytes(data: Any, shape: Any, dtype: Any) -> Any:
    """A tensor from bytes; see `isoform.Tensor.from_bytes`."""

def _to_plain(root: Any, leaf: Any, names: Any, factory: Any = ...) -> Any:
    """An object as nested dicts, or tuples, of its fields; its arrays and lists
    as lists, maps and dicts as dicts.

    `leaf` is a class whose objects stay as they are, `factory` makes a dict of
    a list of pairs, or a tuple of a list, in the place of Python's own. An
    object that is reached in several ways is converted once. Raises ValueError
    for an object that contains itself. Linear in the number of distinct
    objects.
    """

def _type_count() -> int:
    """How many types are registered."""

def _visit_names() -> list[tuple[str, str, str]]:
    """What visitors call the registered types: key, dialect, and the name of the
    class.
    """

def ask_traits(node: Any, count: Any) -> Any:
    """What a pass in Rust learns about a node: its traits by name, those with
    methods with the results. `total` is asked for `count` nodes.

    Raises what the methods raise.
    """

def assert_structural_equal(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: Any = ...,
) -> Any:
    """Raises ValueError, with the explained mismatch, unless two values are
    structurally equal.
    """

def bind_class(cls: type[Any], type_key: str) -> TypeInfo:
    """Makes a class the Python class of a type that was declared natively:
    fields become properties, and a constructor is made unless the class has
    its own.

    Raises KeyError for an unknown type key, ValueError when the type has a
    class already.
    """

def call_attribute(node: Any, name: str, *arguments: Any) -> Any:
    """Calls, from Rust, the function that is an attribute of a node's type or of
    its nearest ancestor that has it.

    Raises AttributeError when there is none, TypeError when it is no function,
    and what the function raises.
    """

def call_method(object: Any, name: str, *arguments: Any) -> Any:
    """Calls a method of an object by its name, as Rust does.

    Raises AttributeError when the type has no such method, and what the method
    raises.
    """

def check_laws(
    values: list[Any], map_free_vars: bool = ..., skip_tensor_content: bool = ...
) -> Any:
    """Checks that equality is reflexive, symmetric and transitive on the given
    values, and that equal values have the same hash and digest. Cubic in the
    number of values.

    Raises ValueError with the law and the values that break it.
    """

def check_types(values: list[Any]) -> None:
    """Checks on the given values what their types promise by their kind: nothing
    below a `const-tree` is a variable or a `dag` node.

    Raises ValueError with the type and the place.
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

def convert(value: Any) -> Any:
    """A Python value as the core gives it back; see `isoform.convert`."""

def convert_func(callable: Any) -> Any:
    """A callable as a `Function`; see `isoform.convert_func`."""

def deep_copy(value: Any) -> Any:
    """A copy of a value and of everything below it that can be copied.

    Sharing and cycles are kept. Singletons, functions, tensors and Python
    objects of which nothing is known are shared with the original. O(size).
    """

def explain_structural_mismatch(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: Any = ...,
) -> Any:
    """The first difference of two values, with the reason; None when they are
    equal.
    """

def field_flags() -> list[tuple[str, str]]:
    """The names of field flags, each with the usual name of its flag."""

def from_bytes(data: Any, ignore_unknown_fields: bool = ...) -> Any:
    """The value in a binary form made by `to_bytes`.

    Raises ValueError for damaged data or another version, otherwise as
    `from_json_graph_str`. O(length).
    """

def from_json_graph_str(json_str: Any, ignore_unknown_fields: bool = ...) -> Any:
    """The value that a JSON graph holds.

    Fields that are missing take their default. Raises ValueError for a text
    that is no JSON graph, and for fields that the type does not have unless
    `ignore_unknown_fields`; TypeError for an unknown type, a missing field
    without default and a value that does not fit; each names the node.
    O(length).
    """

def from_text(text: str) -> Any:
    """The value of a text.

    Raises ValueError for what is no text of a value, with line, column and the
    line itself; TypeError for unknown types, missing fields and values that do
    not fit. O(length).
    """

def get_first_structural_mismatch(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: Any = ...,
) -> Any:
    """The paths of the first difference of two values; None when they are equal."""

def get_global_func(name: str, allow_missing: Any = ...) -> Any:
    """The function registered under a global name.

    Raises ValueError when there is none, unless `allow_missing`: then it is
    None.
    """

def implements(of: Any, trait: Any, /, *, inherit: bool = ...) -> Any:
    """A type or node as an instance of a trait, None if it does not have the
    trait; see `isoform.type_attrs.implements`.
    """

def json_graph_metadata(json_str: Any, ignore_unknown_fields: bool = ...) -> Any:
    """What was given as `metadata` when a JSON graph was written; None if nothing
    was. Reads the whole graph.
    """

def last_visit_count() -> int:
    """How many pairs or objects the last comparison, hash or digest of this
    thread visited.
    """

def list_global_func_names() -> Any:
    """The names of all registered functions, in order of registration."""

def make_node(type_key: str, fields: Any) -> Any:
    """A new object of a type from its fields by name, without the constructor of
    its class; those that are left out take their defaults. `__post_init__` of a
    class that was declared in Python is run.

    Raises KeyError for an unknown key, AttributeError for a field that is
    unknown, TypeError for one that is missing or does not fit.
    """

def onnx_load(path: str | PathLike[str], *, mmap: bool = ..., io_names: bool = ...) -> OnnxModel:
    """Loads a model; see `isoform.onnx.load`."""

def opaque(value: Any) -> Any:
    """A Python object as a value of which the core knows nothing, also one that
    would be converted otherwise.
    """

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

def random_module(seed: int, size: int) -> Any:
    """A random `IRModule` of about `size` nodes, the same one for the same seed."""

def random_program(seed: int, size: int) -> Any:
    """A random `pto.Program` of about `size` nodes, the same one for the same seed."""

def recursive_eq(lhs: Any, rhs: Any) -> bool:
    """Whether two values are equal field by field, whatever their structural
    kind.
    """

def recursive_ge(lhs: Any, rhs: Any) -> bool:
    """Whether the left value comes after the right one or is equal.

    Raises TypeError for values without an order.
    """

def recursive_gt(lhs: Any, rhs: Any) -> bool:
    """Whether the left value comes after the right one, field by field.

    Raises TypeError for values without an order.
    """

def recursive_hash(value: Any) -> int:
    """A hash that agrees with `recursive_eq`."""

def recursive_le(lhs: Any, rhs: Any) -> bool:
    """Whether the left value comes before the right one or is equal.

    Raises TypeError for values without an order.
    """

def recursive_lt(lhs: Any, rhs: Any) -> bool:
    """Whether the left value comes before the right one, field by field.

    Raises TypeError for values without an order.
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

def remove_global_func(name: str) -> Any:
    """Takes a function out of the registry; does nothing if there is none."""

def repr_print(value: Any) -> str:
    """The text of a value: `key(field=value, ...)` for nodes, as `repr` shows it.

    Floats are exact, a value inside itself is shown as `...`. O(length).
    """

def rewrite(root: Any, rules: Any, *, max_steps: Any = ...) -> Any:
    """Applies rules to a value and everything below it, bottom-up, until none
    applies.

    What a rule puts in the place of a value is rewritten in turn; of several
    rules that apply, the first one is taken. Everything in which nothing was
    replaced is the same object in the result, and sharing is kept. A binder
    that would capture a variable of a replacement gets a new variable.

    Raises ValueError when rules were applied more than `max_steps` times;
    TypeError when a replacement does not fit its field; what guards and
    functions raise. Linear in the number of distinct objects, before and after,
    and in the number of attempts; in constant native stack.
    """

def rust_family() -> Any:
    """Registers the node types of the library's own tests, which are declared in
    Rust, and gives their Python classes by name.
    """

def shallow_copy(value: Any) -> Any:
    """A new object with the fields of another one, or what the hook
    `__ffi_shallow_copy__` of its type answers.
    """

def structural_digest(
    value: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: Any = ...,
) -> bytes:
    """The portable name of a value, 32 bytes."""

def structural_equal(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: Any = ...,
) -> bool:
    """Whether two values are structurally equal: the same up to renaming of bound
    variables.

    Args:
        lhs: a value.
        rhs: another value.
        map_free_vars: whether free variables are equal up to renaming, too.
        skip_tensor_content: compare tensors by data type and shape only.
        enable_auto_mapping: another name of `map_free_vars`.

    Raises:
        TypeError: a value that cannot be compared, with its path.
        ValueError: a value contains itself.
        RecursionError: `__s_equal__` methods nest too deeply.

    Linear in the number of distinct pairs of objects.
    """

def structural_hash(
    value: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: Any = ...,
) -> int:
    """The structural hash of a value, an int of 64 bits without sign. Values that
    are equal under some flags have the same hash under the same flags.

    Args:
        value: the value.
        map_free_vars: whether free variables are equal up to renaming, too.
        skip_tensor_content: hash tensors by data type and shape only.
        enable_auto_mapping: another name of `map_free_vars`.

    Raises:
        TypeError: a value that cannot be compared, with its path.
        ValueError: a value contains itself.
        RecursionError: `__s_hash__` methods nest too deeply.

    Linear in the number of distinct objects.
    """

def structural_key(value: Any) -> Any:
    """The value frozen as a key, an instance of `StructuralKey`."""

def structural_key_equal(this: Any, other: Any) -> Any:
    """Whether the other object is an equal key."""

def structural_key_hash(this: Any) -> Any:
    """The hash of a key for tables of this process."""

def structural_key_value(this: Any) -> Any:
    """The value that a key was made of."""

def structural_kinds() -> list[str]:
    """The structural kinds of types that can be compared, by name."""

def structural_map(
    root: Any, callbacks: Any = ..., with_def_region_kind: Any = ..., order: Any = ...
) -> Any:
    """Rewrites a value: each callback sees the values of its types, and its
    answer comes in their place.

    `callbacks`, `with_def_region_kind` and `order` are as for
    `structural_walk`. To keep a value, a callback returns it. Nothing is
    changed in place: what contains a replacement is built anew, and everything
    else is the same object in the result. An object that is reached in several
    ways is rewritten once, and its result is shared in the same way. In
    post-order a callback sees a node after its children were replaced; in
    pre-order the children of its answer are visited.

    Raises TypeError when an answer does not fit its field, ValueError for a
    value that contains itself, and what the callbacks raise. O(values), in
    constant native stack.
    """

def structural_mutate(root: Any, callbacks: Any = ..., *, regions_apart: Any = ...) -> Any:
    """Rewrites a value with callbacks of a value and a StructuralMutator; see
    `isoform.structural_mutate`.
    """

def structural_visit(root: Any, callbacks: Any = ..., *, regions_apart: Any = ...) -> Any:
    """Visits a value with callbacks that decide what is visited below theirs.

    `callbacks` is as for `structural_walk`, but each function gets the value
    and a StructuralVisitor: `visitor.visit(child)` goes on below the value,
    `visitor.default_visit(value)` visits all its children, and without either
    nothing below it is visited. Values without callback are walked through. An
    object is visited once in each kind of region, or once at all without
    `regions_apart`. Returns None, or the VisitInterrupt that a callback
    answered.

    Raises TypeError for another answer, ValueError for a value that contains
    itself, RecursionError when callbacks nest too deeply, and what they raise.
    """

def structural_walk(
    root: Any, callbacks: Any = ..., with_def_region_kind: Any = ..., order: Any = ...
) -> Any:
    """Visits every value below a root, the root included, and calls the first
    callback that was given for its type.

    `callbacks` is a function of the value, a pair of a type (or a tuple of
    types) and a function, or a sequence of such pairs. The functions in
    `with_def_region_kind` get the kind of region as well. A callback answers
    None, a WalkResult, or a VisitInterrupt, which ends the walk and is its
    result. Shared objects are visited once, where they are met first, or once in
    each kind of region where `with_def_region_kind` is given: a variable where
    it is defined and where it is used. Keys of maps and fields that comparison
    ignores are not visited. `order` is "post" (children first) or "pre".

    Raises TypeError for another answer, ValueError for a value that contains
    itself, and what the callbacks raise. O(values), in constant native stack.
    """

def substitute(root: Any, replacements: Any) -> Any:
    """Replaces the free occurrences of variables in a value, all at once and
    without capture.

    `replacements` maps variables (by identity) to what comes in their place.
    Where a binder would capture a variable of a replacement, the binder gets a
    new variable. Where no variable occurs free, the result is the same object.

    Raises TypeError when a key is no variable or a replacement does not fit
    its field, ValueError for a value that contains itself. Linear in the
    number of distinct objects as long as each variable is bound once.
    """

def to_bytes(obj: Any) -> bytes:
    """A value in the compact binary form, with version and checksum.

    Raises as `to_json_graph_str`. O(size).
    """

def to_json_graph_str(obj: Any, metadata: Any = ...) -> str:
    """A value as a JSON graph, which keeps sharing.

    `metadata` is JSON data that is written beside the nodes. Raises TypeError
    for a value that no file can hold, ValueError for one that contains itself,
    both with the path. O(size).
    """

def to_text(obj: Any, options: dict[str, Any]) -> str:
    """The text of a value.

    `options` are those of `isoform.text.to_text`, by name.
    """

def type_attrs_check(of: Any, name: Any, value: Any) -> None:
    """Raises what setting an attribute would raise, without setting it."""

def type_attrs_declare(name: str, doc: str, schema: Schema | None, dense: bool) -> None:
    """Declares an attribute; see `isoform.type_attrs.declare`."""

def type_attrs_declare_dense(name: Any) -> None:
    """Moves an attribute to the hot tier; see `isoform.type_attrs.declare_dense`."""

def type_attrs_get(of: Any, name: Any, default: Any, inherit: bool) -> Any:
    """The attribute of a type or of the type of a node; see
    `isoform.type_attrs.get`.
    """

def type_attrs_has(of: Any, name: Any, inherit: bool) -> bool:
    """Whether an attribute is set; see `isoform.type_attrs.has`."""

def type_attrs_hooks() -> list[str]:
    """The names of the attributes that the library itself reads."""

def type_attrs_info(name: Any) -> dict[str, Any] | None:
    """What is known about an attribute; see `isoform.type_attrs.info`."""

def type_attrs_list() -> list[str]:
    """The names of all attributes; see `isoform.type_attrs.list`."""

def type_attrs_of(of: Any, inherit: bool) -> dict[str, Any]:
    """The attributes of a type; see `isoform.type_attrs.attrs_of`."""

def type_attrs_owner(of: Any, name: Any) -> type[Any] | None:
    """The type that has an attribute; see `isoform.type_attrs.owner`."""

def type_attrs_place(of: Any) -> TypeInfo:
    """The type that is to be changed, by its class, key or `TypeInfo`.

    Raises TypeError for anything else, KeyError for an unknown key.
    """

def type_attrs_set(of: Any, name: Any, value: Any, replace: bool) -> None:
    """Sets an attribute of a type; see `isoform.type_attrs.set`."""

def type_info(of: Any) -> TypeInfo:
    """What is registered about a type, by its key, its class or one of its
    objects.

    Raises KeyError for an unknown key, TypeError for anything that stands for
    no type.
    """

def verify(root: Any) -> Any:
    """Runs the `__verify__` methods of all nodes of a value, and lists all
    failures as pairs of a path and an exception.

    Raises what is no `Exception`, such as KeyboardInterrupt, at once.
    """

def with_fields(obj: Any, changes: Any) -> Any:
    """A copy of an object with some of its fields replaced; the constructor is
    not run. The other fields are those of the copy that the hook
    `__ffi_shallow_copy__` of its type makes, if there is one.

    Raises TypeError for an unknown field or a value that does not fit.
    """
