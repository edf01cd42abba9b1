"""Errors as values, and the registered names of error classes.

Exceptions cross the border between Python and the core unchanged. `Error` is for
programs that pass errors around: a kind, a message, a backtrace.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, TypeVar, overload

__all__ = ["Error", "StructuralError", "TextError", "TextTypeError", "register_error"]

E = TypeVar("E", bound=type[BaseException])

_CLASSES: dict[str, type[BaseException]] = {}


class Error:
    """An error as a value.

    Args:
        kind: the name of an exception class, see `register_error`.
        message: the message.
        backtrace: the traceback, as text.

    >>> error = Error("ValueError", "too large")
    >>> error.py_error()
    ValueError('too large')
    """

    def __init__(self, kind: str, message: str, backtrace: str = "") -> None:
        """See the class."""
        self.kind = kind
        self.message = message
        self.backtrace = backtrace

    @classmethod
    def of(cls, exception: BaseException) -> Error:
        """The error for an exception."""
        return cls(_name_of(type(exception)), str(exception))

    def py_error(self) -> BaseException:
        """An exception of the class named by the kind; RuntimeError without a class."""
        known = _CLASSES.get(self.kind, getattr(builtins, self.kind, None))
        if not (isinstance(known, type) and issubclass(known, BaseException)):
            return RuntimeError(f"{self.kind}: {self.message}")
        return known(self.message)

    def update_backtrace(self, backtrace: str) -> None:
        """Replaces the backtrace."""
        self.backtrace = backtrace

    def __repr__(self) -> str:
        """Kind and message."""
        return f"Error({self.kind!r}, {self.message!r})"


def _name_of(cls: type[BaseException]) -> str:
    """The name of a class of exceptions in the core."""
    return next((name for name, known in _CLASSES.items() if known is cls), cls.__name__)


@overload
def register_error(name_or_cls: E) -> E: ...
@overload
def register_error(name_or_cls: str | None = None) -> Callable[[E], E]: ...
@overload
def register_error(name_or_cls: str | None, cls: E) -> E: ...
def register_error(name_or_cls: Any = None, cls: Any = None) -> Any:
    """Registers a class of exceptions under a name, by default its own.

    Can be called or used as a decorator. A later class of the same name replaces an
    earlier class.

    Raises:
        TypeError: the class is not a class of exceptions.

    >>> @register_error
    ... class ShapeError(ValueError):
    ...     pass
    >>> type(Error("ShapeError", "3 is not 4").py_error()).__name__
    'ShapeError'
    """
    if isinstance(name_or_cls, type):
        cls, name_or_cls = name_or_cls, None

    def register(found: Any) -> Any:
        if not (isinstance(found, type) and issubclass(found, BaseException)):
            raise TypeError(f"expected a class of exceptions, got {found!r}")
        _CLASSES[name_or_cls or found.__name__] = found
        return found

    return register if cls is None else register(cls)


@register_error
class StructuralError(AssertionError, ValueError):
    """Two values that should be structurally equal are different.

    The message has the place, the reason, and both sides as text with the place marked.
    Test tools report an AssertionError as a failure, not as an error of the test.

    >>> from isoform import assert_structural_equal
    >>> try:
    ...     assert_structural_equal([1], [2])
    ... except AssertionError as error:
    ...     type(error).__name__
    'StructuralError'
    """


@register_error
class TextError(ValueError):
    """A text that cannot be read, with the place in numbers.

    The message names line and column and shows the line with a caret; the
    attributes are those of SyntaxError.

    Attributes:
        msg: the problem, in one line.
        lineno: the line, from 1 on.
        offset: the column in characters, from 1 on.

    >>> from isoform import text
    >>> try:
    ...     text.from_text("[1,\\n 2 3]")
    ... except TextError as error:
    ...     (error.lineno, error.offset), error.msg
    ((2, 4), "expected ',' or ']', got '3'")
    """

    def __init__(self, message: str, msg: str = "", lineno: int = 1, offset: int = 1) -> None:
        """See the class; `message` is the whole message."""
        super().__init__(message)
        self.msg = msg or message
        self.lineno = lineno
        self.offset = offset


@register_error
class TextTypeError(TextError, TypeError):
    """A text with an unknown type or an unsuitable field.

    It is a TypeError like the error of the constructor, and a TextError.
    """
