"""Decorators that make passes of functions and classes."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, overload

from isoform.container import Dict
from isoform.ir import _api

from .cache import Memo
from .passes import FunctionPass, ModulePass, PassInfo, check_required

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Protocol

    class _ModulePassClass(Protocol):
        """A class whose objects become passes."""

        @property
        def transform_module(self) -> Callable[[Any, Any], Any]: ...

    class _FunctionPassClass(Protocol):
        """A class whose objects become passes."""

        @property
        def transform_function(self) -> Callable[[Any, Any, Any], Any]: ...

    class OwnModulePass(ModulePass):
        """A pass with the attributes of the decorated class."""

        def __getattr__(self, name: str) -> Any: ...

    class OwnFunctionPass(FunctionPass):
        """A pass with the attributes of the decorated class."""

        def __getattr__(self, name: str) -> Any: ...

    class _ModulePassDecorator(Protocol):
        # A class is a function of its arguments, too; the first overload is for all classes.
        @overload
        def __call__(  # pyright: ignore[reportOverlappingOverload]
            self, decorated: type[_ModulePassClass], /
        ) -> Callable[..., OwnModulePass]: ...
        @overload
        def __call__(self, decorated: Callable[[Any, Any], Any], /) -> ModulePass: ...

    class _FunctionPassDecorator(Protocol):
        @overload
        def __call__(  # pyright: ignore[reportOverlappingOverload]
            self, decorated: type[_FunctionPassClass], /
        ) -> Callable[..., OwnFunctionPass]: ...
        @overload
        def __call__(self, decorated: Callable[[Any, Any, Any], Any], /) -> FunctionPass: ...


__all__ = ["function_pass", "module_pass"]


@overload
def module_pass(
    pass_func: None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: list[str] | tuple[str, ...] | None = None,
    traceable: bool = False,
    *,
    preserves: Iterable[str] = (),
) -> _ModulePassDecorator: ...
@overload
def module_pass(  # pyright: ignore[reportOverlappingOverload]
    pass_func: type[_ModulePassClass],
    opt_level: int | None = None,
    name: str | None = None,
    required: list[str] | tuple[str, ...] | None = None,
    traceable: bool = False,
    *,
    preserves: Iterable[str] = (),
) -> Callable[..., OwnModulePass]: ...
@overload
def module_pass(
    pass_func: Callable[[Any, Any], Any],
    opt_level: int | None = None,
    name: str | None = None,
    required: list[str] | tuple[str, ...] | None = None,
    traceable: bool = False,
    *,
    preserves: Iterable[str] = (),
) -> ModulePass: ...
def module_pass(
    pass_func: Any = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: list[str] | tuple[str, ...] | None = None,
    traceable: bool = False,
    *,
    preserves: Iterable[str] = (),
) -> Any:
    """Make a pass of a function or class.

    Args:
        pass_func: A function of the program and the context that returns the new
            program, or a class with a method `transform_module` of this form: its
            instances become passes. Without it, the result is a decorator.
        opt_level: The lowest level at which a `Sequential` runs the pass.
        name: The name; by default that of the function or class.
        required: The names of passes to run before it in a `Sequential`.
        traceable: Kept for tools that trace tuning.
        preserves: The names of analyses with results that stay valid, see `PassInfo`.

    Raises ValueError without `opt_level`, TypeError for arguments of other types.

    Type checkers know the result as a `ModulePass`, or as a function that returns a
    `ModulePass`. mypy ignores decorators of classes: for mypy, write
    `Add = module_pass(opt_level=2)(AddFunction)`.

    >>> from isoform import ir
    >>> from isoform.transform import module_pass
    >>> @module_pass(opt_level=2)
    ... def Empty(mod, ctx):
    ...     return ir.IRModule()
    >>> Empty
    Run Module pass: Empty at the optimization level 2
    >>> @module_pass(opt_level=2)
    ... class Add:
    ...     def __init__(self, name):
    ...         self.name = name
    ...     def transform_module(self, mod, ctx):
    ...         return ir.IRModule({**mod.functions, self.name: ir.BaseFunc()})
    >>> add = Add("f")
    >>> [var.name_hint for var in add(Empty(ir.IRModule())).functions], add.name
    (['f'], 'f')
    """
    if opt_level is None:
        raise ValueError("Please provide opt_level for the module pass.")
    check_required(required)

    def made(decorated: Any) -> Any:
        info = _info(decorated, opt_level, name, required, traceable, preserves)
        if inspect.isclass(decorated):
            return _class_of(decorated, ModulePass, "transform_module", lambda f: (f, info))
        return _documented(ModulePass(decorated, info), decorated)

    return made(pass_func) if pass_func else made


@overload
def function_pass(
    pass_func: None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: list[str] | tuple[str, ...] | None = None,
    traceable: bool = False,
    *,
    cls: type[Any] | str = "",
    filter: Callable[[Any], bool] | None = None,
    after: Iterable[str] = (),
    preserves: Iterable[str] = (),
    pure: bool = False,
    version: str = "",
    ignores: bool = False,
    reads: Callable[[Any, Any], Any] | None = None,
) -> _FunctionPassDecorator: ...
@overload
def function_pass(  # pyright: ignore[reportOverlappingOverload]
    pass_func: type[_FunctionPassClass],
    opt_level: int | None = None,
    name: str | None = None,
    required: list[str] | tuple[str, ...] | None = None,
    traceable: bool = False,
    *,
    cls: type[Any] | str = "",
    filter: Callable[[Any], bool] | None = None,
    after: Iterable[str] = (),
    preserves: Iterable[str] = (),
    pure: bool = False,
    version: str = "",
    ignores: bool = False,
    reads: Callable[[Any, Any], Any] | None = None,
) -> Callable[..., OwnFunctionPass]: ...
@overload
def function_pass(
    pass_func: Callable[[Any, Any, Any], Any],
    opt_level: int | None = None,
    name: str | None = None,
    required: list[str] | tuple[str, ...] | None = None,
    traceable: bool = False,
    *,
    cls: type[Any] | str = "",
    filter: Callable[[Any], bool] | None = None,
    after: Iterable[str] = (),
    preserves: Iterable[str] = (),
    pure: bool = False,
    version: str = "",
    ignores: bool = False,
    reads: Callable[[Any, Any], Any] | None = None,
) -> FunctionPass: ...
def function_pass(
    pass_func: Any = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: list[str] | tuple[str, ...] | None = None,
    traceable: bool = False,
    *,
    cls: type[Any] | str = "",
    filter: Callable[[Any], bool] | None = None,  # noqa: A002
    after: Iterable[str] = (),
    preserves: Iterable[str] = (),
    pure: bool = False,
    version: str = "",
    ignores: bool = False,
    reads: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """Make a pass over each function of a program, from a function or class.

    Args:
        pass_func: A function of a function, the program and the context that returns
            the new function, or a class with such a method `transform_function`.
            Without it, the result is a decorator.
        opt_level: The lowest level at which a `Sequential` runs the pass.
        name: The name; by default that of the function or class.
        required: The names of passes to run before it in a `Sequential`.
        traceable: Kept for tools that trace tuning.
        cls: The class of functions to transform; other functions are left alone.
        filter: Returns whether a function is transformed.
        after: The names of passes to run on the result.
        preserves: The names of analyses with results that stay valid, see `PassInfo`.
        pure: The result depends only on the function, the context, the data of the pass and
            its reads of the program, so the cache of a context may keep it.
        version: The version of a pure pass; required, and to be changed whenever the
            results of the pass change. A pure pass made from a nameless function also needs
            a name.
        ignores: True if a pure pass ignores names and spans, see `Memo`.
        reads: The parts of the program that a pure pass reads, see `Memo`. Without `reads`,
            a pure pass that looks at the program raises ValueError.

    A pass made from a class has the arguments of the constructor for `options`. Options,
    attributes and captured variables are part of the key of a pure pass. Objects that are
    not values, and values without a digest, for example functions, exclude the pass from
    the cache. A pure pass that changes an option, an attribute or a captured variable
    raises ValueError.

    Raises ValueError without `opt_level`, or for a pure pass without `version` or name,
    TypeError for arguments of other types.

    >>> from isoform import Object
    >>> from isoform.dataclasses import py_class, replace
    >>> from isoform.transform import function_pass
    >>> @py_class("doc.function_pass.Number")
    ... class Number(Object):
    ...     value: int
    >>> @function_pass(opt_level=1, cls=Number)
    ... def Double(number, root, ctx):
    ...     return replace(number, value=2 * number.value)
    >>> Double(Number(4)).value
    8
    """
    if opt_level is None:
        raise ValueError("Please provide opt_level for the function pass.")
    check_required(required)
    if pure and not version:
        raise ValueError(
            "function_pass: a pure pass needs a version, which changes with its results; "
            'write function_pass(..., pure=True, version="1")'
        )

    def made(decorated: Any) -> Any:
        info = _info(decorated, opt_level, name, required, traceable, preserves)
        memo = None
        if pure:
            memo = _api.made(Memo, version, ignores, reads, _place_of(decorated, name))
        if inspect.isclass(decorated):
            return _class_of(
                decorated,
                FunctionPass,
                "transform_function",
                lambda f: (f, info, cls, filter, after, memo),
            )
        return _documented(FunctionPass(decorated, info, cls, filter, after, memo), decorated)

    return made(pass_func) if pass_func else made


def _documented(made: Any, decorated: Any) -> Any:
    """A pass with the documentation and module of its function."""
    made.__doc__ = decorated.__doc__
    made.__module__ = getattr(decorated, "__module__", None)
    return made


def _info(
    decorated: Any,
    opt_level: int,
    name: str | None,
    required: Any,
    traceable: bool,
    preserves: Iterable[str],
) -> PassInfo:
    if not callable(decorated):
        raise TypeError("pass_func must be a callable for Module pass")
    # A partial application has the name of its function.
    name = name or getattr(getattr(decorated, "func", decorated), "__name__", None)
    if name is None:
        raise TypeError(
            f"a pass needs a name, which an object of class {type(decorated).__name__} does not "
            f"have: give name=..."
        )
    return PassInfo(opt_level, name, required, traceable, preserves)


def _place_of(decorated: Any, name: str | None) -> str:
    """Where a function or class is written.

    Raises ValueError for a lambda without a name: all lambdas of a module are at one place.
    """
    written = getattr(decorated, "__qualname__", type(decorated).__qualname__)
    if not name and written.endswith("<lambda>"):
        raise ValueError(
            "function_pass: a pure pass that is made of a lambda needs a name of its own; write "
            "function_pass(..., name=...)"
        )
    return f"{decorated.__module__}.{written}"


def _class_of(
    decorated: type[Any], base: Any, method: str, arguments: Callable[[Any], tuple[Any, ...]]
) -> Any:
    """The class of passes that run a method of instances of a class."""
    if not callable(getattr(decorated, method, None)):
        raise TypeError(f"{decorated.__qualname__}: expected a class with a method '{method}'")

    class Meta(type(base)):  # type: ignore[misc]
        def __getattr__(self, attribute: str) -> Any:
            found = inspect.getattr_static(decorated, attribute, None)
            if attribute.startswith("__") or not hasattr(decorated, attribute):
                raise AttributeError(
                    f"type object '{self.__name__}' has no attribute '{attribute}'"
                )
            bind = getattr(type(found), "__get__", None)
            # A class method is bound to the class of passes, to construct passes.
            return bind(found, None, self) if bind else found

    class Made(base, metaclass=Meta):
        def __init_subclass__(cls, **options: Any) -> None:
            super().__init_subclass__(**options)
            is_own = {*dir(object), *dir(base)}.__contains__
            hidden = [n for n in vars(cls) if hasattr(decorated, n) and not is_own(n)]
            if hidden:
                raise TypeError(
                    f"{cls.__qualname__} overrides {', '.join(hidden)}, which passes of "
                    f"{decorated.__qualname__} would ignore: extend the class before it is "
                    f"decorated, and decorate the result"
                )

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            inner = decorated(*args, **kwargs)
            given = arguments(getattr(inner, method))
            options = _options(decorated, args, kwargs)
            if options is None:
                # The memo is the last argument of passes that can have a memo.
                given = tuple(None if isinstance(one, Memo) else one for one in given)
            super().__init__(*given)
            self.options.update(options or {})
            self._inner = inner

        def __getattr__(self, attribute: str) -> Any:
            if attribute == "_inner":
                raise AttributeError(attribute)
            return getattr(self._inner, attribute)

        def __setattr__(self, attribute: str, value: Any) -> None:
            # Attributes are read from the inner object and therefore also written there:
            # the method of the inner object sees the new value.
            if "_inner" in vars(self) and not hasattr(base, attribute):
                setattr(self._inner, attribute, value)
            else:
                super().__setattr__(attribute, value)

    functools.update_wrapper(Made.__init__, decorated.__init__)
    Made.__name__ = decorated.__name__
    Made.__qualname__ = decorated.__qualname__
    Made.__doc__ = decorated.__doc__
    Made.__module__ = decorated.__module__
    return Made


def _options(decorated: type[Any], args: Any, kwargs: Any) -> Dict[str, Any] | None:
    """The arguments of a constructor by name, except for defaults.

    Returns None if the core cannot store an argument.
    """
    try:
        bound = inspect.signature(decorated).bind(*args, **kwargs)
    except (TypeError, ValueError):
        # Classes without a signature.
        return None if args or kwargs else Dict()
    options: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            options.update(value)
        elif not _is_default(value, parameter.default):
            options[name] = value
    try:
        return Dict(options)
    except (TypeError, ValueError):
        return None


def _is_default(value: Any, default: Any) -> bool:
    """True for a default of a type with known comparison."""
    plain = (bool, int, str, bytes, type(None))
    return value is default or (
        type(value) is type(default) and type(value) in plain and value == default
    )
