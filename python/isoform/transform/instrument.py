"""Instruments: objects that a context notifies about every pass.

>>> from isoform import ir
>>> from isoform.transform import ModulePass, PassContext, PassInfo, pass_instrument
>>> @pass_instrument
... class Count:
...     def __init__(self):
...         self.passes = 0
...     def run_before_pass(self, mod, info):
...         self.passes += 1
>>> count = Count()
>>> with PassContext(instruments=[count]):
...     mod = ModulePass(lambda mod, ctx: mod, PassInfo(0, "Idle"))(ir.IRModule())
>>> count.passes, count.name
(1, 'Count')
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, TypeVar, overload

from isoform.core import Object
from isoform.dataclasses import c_class
from isoform.ir import _api

from .log import logger

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from .passes import PassInfo

_C = TypeVar("_C", bound=type)

__all__ = [
    "ChangesInstrument",
    "DumpIR",
    "PassInstrument",
    "PassPrintingInstrument",
    "PassTimingInstrument",
    "PrintAfterAll",
    "PrintBeforeAll",
    "PrintChanges",
    "VerifyInstrument",
    "changes_text",
    "pass_instrument",
]

_timing = _api.function("instrument.timing")
_render = _api.function("instrument.render_timing")
_printing = _api.function("instrument.printing")
_dump = _api.function("instrument.dump_ir")
_verifying = _api.function("instrument.verifying")
_changes = _api.function("instrument.changes")
_recorded = _api.function("instrument.recorded_changes")
_changes_text = _api.function("instrument.changes_text")

_METHODS = {
    "enter_pass_ctx": "on_enter",
    "exit_pass_ctx": "on_exit",
    "should_run": "on_should_run",
    "run_before_pass": "on_before_pass",
    "run_after_pass": "on_after_pass",
    "run_failed_pass": "on_failed_pass",
}


@c_class("transform.PassInstrument")
class PassInstrument(Object):
    """The base of instruments.

    A subclass overrides the needed methods; the remaining methods are not called. An
    `__init__` of the subclass must call `super().__init__()`. An exception of a method
    ends the pass, or the entry to the context.

    Attributes:
        name: The name of the class, for messages.
    """

    __slots__ = ("__dict__",)

    name: str

    def __init__(self) -> None:
        """Make the methods of the subclass known to contexts."""
        cls = type(self)
        given: dict[str, Any] = {}
        for method, field in _METHODS.items():
            if getattr(cls, method) is not getattr(PassInstrument, method):
                given[field] = getattr(self, method)
        this: Any = self
        this.__ffi_init__(cls.__name__, **given)

    def enter_pass_ctx(self) -> None:
        """Called when a context is entered, before it is the current one."""

    def exit_pass_ctx(self) -> None:
        """Called when a context has been left."""

    def should_run(self, mod: Any, info: PassInfo) -> bool:
        """Return whether a pass runs. Not called for passes that the context requires.

        Args:
            mod: The program.
            info: The description of the pass.
        """
        del mod, info
        return True

    def run_before_pass(self, mod: Any, info: PassInfo) -> None:
        """Called before a pass.

        Args:
            mod: The program.
            info: The description of the pass.
        """

    def run_after_pass(self, mod: Any, info: PassInfo) -> None:
        """Called after a pass.

        Args:
            mod: The new program.
            info: The description of the pass.
        """

    def run_failed_pass(self, mod: Any, info: PassInfo) -> None:
        """Called if a pass ends with an exception after `run_before_pass`.

        Args:
            mod: The program.
            info: The description of the pass.
        """


@overload
def pass_instrument(pi_cls: _C) -> _C: ...
@overload
def pass_instrument(pi_cls: None = None) -> Callable[[_C], _C]: ...
def pass_instrument(pi_cls: Any = None) -> Any:
    """Make a class an instrument, with the methods of `PassInstrument`.

    Args:
        pi_cls: The class; without it, the result is a decorator. A subclass of
            `PassInstrument` is returned unchanged.

    Raises TypeError for anything but a class.
    """

    def made(cls: Any) -> Any:
        if not inspect.isclass(cls):
            raise TypeError("pi_cls must be a class")
        return cls if issubclass(cls, PassInstrument) else _class_of(cls)

    return made(pi_cls) if pi_cls is not None else made


def _class_of(decorated: Any) -> Any:
    class Made(decorated, PassInstrument):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            PassInstrument.__init__(self)
            decorated.__init__(self, *args, **kwargs)

    functools.update_wrapper(Made.__init__, decorated.__init__)
    Made.__name__ = decorated.__name__
    Made.__qualname__ = decorated.__qualname__
    Made.__doc__ = decorated.__doc__
    Made.__module__ = decorated.__module__
    return Made


def _adopt(this: Any, made: Any) -> None:
    """Let an object do the work of another instrument."""
    parts = {field: getattr(made, field) for field in _METHODS.values()}
    this.__ffi_init__(type(this).__name__, **parts)


class _Render:
    """`render` of an instrument, and of the class for the current context."""

    def __get__(self, instance: Any, owner: Any) -> Callable[[], str]:
        return functools.partial(_rendered, instance)


def _rendered(instrument: PassTimingInstrument | None) -> str:
    """Return the times of passes as text, see `PassTimingInstrument`."""
    if instrument is None:
        from .context import PassContext

        found = [
            one for one in PassContext.current().instruments if type(one) is PassTimingInstrument
        ]
        instrument = found[-1] if found else None
    text = "" if instrument is None else _render(instrument)
    if not text:
        logger.warning("PassTimingInstrument: no passes have been measured")
    return text


class PassTimingInstrument(PassInstrument):
    """Measures how long passes take.

    `render()` returns a line for each pass, indented by a tab for each enclosing pass:
    the time in microseconds, in brackets the time without inner passes, and the shares
    of the time of all passes and of the enclosing pass. Measurements are separate for
    instruments and threads, and end with the context. `PassTimingInstrument.render()`
    is about the instrument of the current context.

    Raises RuntimeError when rendered while a pass is running.

    >>> from isoform import ir
    >>> from isoform.transform import PassContext, PassTimingInstrument, Sequential
    >>> timing = PassTimingInstrument()
    >>> with PassContext(instruments=[timing]):
    ...     mod = Sequential([])(ir.IRModule())
    ...     print(timing.render().split(":")[0])
    sequential
    """

    render = _Render()

    def __init__(self) -> None:
        """See the class."""
        _adopt(self, _timing())


def _print(text: str) -> None:
    print(text, end="")


class PassPrintingInstrument(PassInstrument):
    """Prints the program before and after passes to standard output.

    Args:
        print_before_pass_names: The names of the passes before which the program is
            printed.
        print_after_pass_names: The names of the passes after which the program is
            printed.
    """

    def __init__(
        self,
        print_before_pass_names: Iterable[str] = (),
        print_after_pass_names: Iterable[str] = (),
    ) -> None:
        """See the class."""
        before, after = list(print_before_pass_names), list(print_after_pass_names)
        _adopt(self, _printing(before, after, [], False, _print))


class PrintBeforeAll(PassInstrument):
    """Prints the program before each pass to standard output."""

    def __init__(self) -> None:
        """See the class."""
        _adopt(self, _printing(None, [], [], True, _print))


class PrintAfterAll(PassInstrument):
    """Prints the program after each pass to standard output."""

    def __init__(self) -> None:
        """See the class."""
        _adopt(self, _printing([], None, [], True, _print))


class PrintChanges(PassInstrument):
    """Prints the functions changed by passes, as unified diffs, to standard output.

    Args:
        pass_names: The names of the passes; None for all passes.
    """

    def __init__(self, pass_names: Iterable[str] | None = None) -> None:
        """See the class."""
        wanted = None if pass_names is None else list(pass_names)
        _adopt(self, _printing([], [], wanted, False, _print))


class DumpIR(PassInstrument):
    """Writes the program after each pass to a file `<number>_<pass><suffix>`.

    Failed writes are logged as warnings, and the passes go on.

    Args:
        dump_dir: The folder, made if it does not exist.
        refresh: Delete the files of an earlier run; a folder with other contents is
            kept, with a warning.
        suffix: The end of the names. The text is that of `isoform.text`, or of the
            type's own printer.
    """

    def __init__(
        self, dump_dir: str | os.PathLike[str], refresh: bool = False, suffix: str = ".iso"
    ) -> None:
        """See the class."""
        import os

        _adopt(self, _dump(os.fspath(dump_dir), refresh, suffix))


class VerifyInstrument(PassInstrument):
    """Checks the program after every pass, to find a breaking pass.

    Args:
        check: Called with the program; raises an exception if it is wrong. By default,
            the verifiers of types, and the trait `transform.check` of the program's type.
    """

    def __init__(self, check: Callable[[Any], None] | None = None) -> None:
        """See the class."""
        _adopt(self, _verifying(check))


class ChangesInstrument(PassInstrument):
    """Records the functions changed, added or removed by each pass.

    >>> from isoform import ir
    >>> from isoform.transform import ChangesInstrument, ModulePass, PassContext, PassInfo
    >>> empty = ModulePass(lambda mod, ctx: ir.IRModule(), PassInfo(0, "Empty"))
    >>> changes = ChangesInstrument()
    >>> with PassContext(instruments=[changes]):
    ...     mod = empty(ir.IRModule({"f": ir.BaseFunc()}))
    >>> changes.recorded()
    [('Empty', {'changed': [], 'added': [], 'removed': ['f']})]
    """

    def __init__(self) -> None:
        """See the class."""
        _adopt(self, _changes())

    def recorded(self) -> list[tuple[str, dict[str, list[str]]]]:
        """Return the names of passes with those of changed, added and removed functions.

        In order of the ends of passes; entering a context begins again.
        """
        rows = _recorded(self)
        return [
            (name, {"changed": list(changed), "added": list(added), "removed": list(removed)})
            for name, changed, added, removed in rows
        ]


def changes_text(old: Any, new: Any) -> str:
    """Return the changes between two programs, as unified diffs of their functions.

    Args:
        old: The program before.
        new: The program after.

    Functions that are the same object are not printed. The changes of a function are
    minimal if its two versions together have at most 2,000 lines in common. Beyond that
    limit, a long part with repeated or reordered lines may be shown in replaced form. O(l
    log l) for l lines of text, plus at most 2,000 comparisons for each line.
    """
    return _changes_text(old, new)
