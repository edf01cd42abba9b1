"""Functions, groups of functions, and explicit conversions.

A callable that is stored in a field or passed to the core becomes a `Function`: its
arguments and result are converted like field values, and its exceptions reach the
caller unchanged.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform._core import Object

if TYPE_CHECKING:
    import inspect

__all__ = [
    "Bytes",
    "Function",
    "Module",
    "ObjectConvertible",
    "OpaquePyObject",
    "String",
    "convert",
    "convert_func",
]

String = str
Bytes = bytes


class _OfInstance:
    """An attribute that instances compute, with a separate value for the class."""

    def __init__(self, compute: Callable[[Any], Any], of_class: Any) -> None:
        self._compute = compute
        self._of_class = of_class

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self._of_class if instance is None else self._compute(instance)


def _documentation(function: Any) -> str | None:
    found = function._doc()
    if found is None:
        found = getattr(_core._callable_of(function), "__doc__", None)
    return found


def _signature(function: Any) -> inspect.Signature:
    from isoform import _signature

    found = _signature.signature_of(function)
    if found is None:
        raise AttributeError("the signature of this function is not known")
    return found


class Function(Object):
    """A callable value.

    Args:
        callable: the callable; a `Function` is returned unchanged.

    Raises:
        TypeError: the argument cannot be called.

    A Rust function converts arguments by signature, like fields do; a Python function
    receives the arguments unconverted, regardless of annotations. `inspect.signature`
    and `help` describe both.

    >>> add = Function(lambda a, b: a + b)
    >>> add(1, 2), add.name
    (3, None)
    >>> Function(lambda x: type(x).__name__)([1])
    'Array'
    """

    def __call__(self, *args: Any) -> Any:
        """Calls it with converted arguments."""
        ...

    @property
    def name(self) -> str | None:
        """Its registered name, if any."""
        return self._name()

    @property
    def __name__(self) -> str:  # pyright: ignore
        """Its registered name, or a placeholder."""
        return self._name() or "<function>"

    def named(self, name: str, /) -> Function:
        """The same function under a name."""
        ...

    def _name(self) -> str | None: ...

    def _doc(self) -> str | None: ...

    def __repr__(self) -> str:
        """As in `Function(name)`."""
        return f"Function({self._name() or 'anonymous'})"

    # An instance returns the documentation of its callable; the class, the docstring above.
    __doc__ = _OfInstance(_documentation, __doc__)  # pyright: ignore
    __signature__ = _OfInstance(_signature, None)


class OpaquePyObject(Object):
    """An opaque value made by native code.

    An opaque Python object is returned itself, not as an instance of this class.
    """

    def __repr__(self) -> str:
        """That it is opaque."""
        return "<opaque value>"


class Module:
    """A named group of functions, available by attribute.

    Args:
        name: the name of the group.
        functions: callables by name.

    >>> arith = Module("arith", {"double": lambda x: 2 * x})
    >>> arith.double(4), arith["double"](5), arith.functions
    (8, 10, ('double',))
    """

    entry_name = "main"

    def __init__(
        self, name: str, functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        """See the class."""
        self._module_name = name
        given = functions or {}
        self._functions = {key: _made(function).named(key) for key, function in given.items()}

    @property
    def name(self) -> str:
        """The name of the group."""
        return self._module_name

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions."""
        return tuple(self._functions)

    def implements_function(self, name: str) -> bool:
        """Returns whether a function of this name exists."""
        return name in self._functions

    def get_function(self, name: str) -> Function:
        """The function of a name.

        Raises:
            AttributeError: there is none.
        """
        try:
            return self._functions[name]
        except KeyError:
            raise AttributeError(f"module '{self._module_name}' has no function '{name}'") from None

    def __getattr__(self, name: str) -> Function:
        """The function of a name."""
        if name.startswith("_"):
            # Looked up while an instance is copied or unpickled, too.
            raise AttributeError(f"a Module has no attribute '{name}'")
        return self.get_function(name)

    def __getitem__(self, name: str) -> Function:
        """The function of a name."""
        return self.get_function(name)

    def __call__(self, *args: Any) -> Any:
        """Calls the function `main`."""
        return self.get_function(self.entry_name)(*args)

    def __dir__(self) -> list[str]:
        """The attributes, functions among them."""
        return sorted({*super().__dir__(), *self._functions})

    def __repr__(self) -> str:
        """Name and functions."""
        return f"Module({self._module_name!r}, functions={list(self._functions)})"


class ObjectConvertible:
    """A base for classes with instances stored as another value.

    >>> class Celsius(ObjectConvertible):
    ...     def __init__(self, degrees): self.degrees = degrees
    ...     def asobject(self): return {"degrees": self.degrees}
    >>> convert(Celsius(21))["degrees"]
    21
    """

    def asobject(self) -> Any:
        """The value to store instead of the instance.

        Raises:
            NotImplementedError: the class does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__}.asobject is not defined")


def convert(value: Any) -> Any:
    """Converts a value to the core and back.

    Lists and tuples become an `Array`, dicts a `Map`, callables a `Function`,
    arrays a `Tensor`; ints, floats, strings and objects are unchanged. An opaque
    object is returned as itself.

    Raises:
        ValueError: a list or dict contains itself.

    >>> type(convert([1, 2])).__name__, convert(3), convert("a")
    ('Array', 3, 'a')
    """
    return _core.convert(value)


def convert_func(pyfunc: Callable[..., Any], tensor_cls: type | None = None) -> Function:
    """A callable as a `Function`.

    Args:
        pyfunc: the callable.
        tensor_cls: the class of arrays in which tensors reach the callable, such as
            `numpy.ndarray`; the function `from_dlpack` of its library makes them.

    Raises:
        TypeError: the argument cannot be called, or the library of `tensor_cls` has no
            `from_dlpack`.

    >>> convert_func(len)([1, 2, 3])
    3
    """
    if tensor_cls is None:
        return _core.convert_func(pyfunc)
    library = importlib.import_module(tensor_cls.__module__.partition(".")[0])
    from_dlpack: Any = getattr(library, "from_dlpack", None)
    if from_dlpack is None or not callable(pyfunc):
        raise TypeError(
            f"convert_func: expected a callable and a class of a library with from_dlpack, got "
            f"{type(pyfunc).__name__} and {tensor_cls.__module__}.{tensor_cls.__qualname__}"
        )

    @functools.wraps(pyfunc)
    def call(*args: Any) -> Any:
        from isoform.tensor import Tensor

        return pyfunc(*(from_dlpack(arg) if isinstance(arg, Tensor) else arg for arg in args))

    return _core.convert_func(call)


for _class, _kind in ((Function, "Function"), (OpaquePyObject, "Opaque")):
    _core._install_function(_class, _kind)
del _class, _kind


def _made(function: Callable[..., Any]) -> Function:
    # The constructor is native, and accepts more than the stub of `Object` says.
    return Function(function)  # pyright: ignore[reportCallIssue]
