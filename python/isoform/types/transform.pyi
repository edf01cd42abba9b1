# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `transform`."""

import builtins
import collections.abc
import typing

import isoform

__all__ = [
    "Cache",
    "FunctionPass",
    "Memo",
    "ModulePass",
    "NoProgram",
    "Pass",
    "PassContext",
    "PassInfo",
    "PassInstrument",
    "Sequential",
]

class PassInfo(isoform.Object):
    """The name of a pass, and the conditions for running the pass."""

    __match_args__ = ("opt_level", "name", "required", "traceable", "preserves")
    @property
    def opt_level(self) -> builtins.int:
        """The lowest level of optimization at which a `Sequential` runs the pass."""
    @property
    def name(self) -> builtins.str:
        """The name by which contexts require and disable the pass."""
    @property
    def required(self) -> isoform.Array[builtins.str]:
        """The names of passes that a `Sequential` runs before this pass, in order."""
    @property
    def preserves(self) -> isoform.Array[builtins.str]:
        """The names of analyses whose results stay valid for changed functions; `*` stands
        for all analyses.
        """
    @property
    def traceable(self) -> builtins.bool:
        """For tools that trace tuning; the library ignores this field."""
    def __repr__(self) -> builtins.str:
        """Return name, level and requirements as a sentence."""

class PassInstrument(isoform.Object):
    """Functions that a context calls around every pass; absent functions are skipped."""

    __match_args__ = (
        "name",
        "on_enter",
        "on_exit",
        "on_should_run",
        "on_before_pass",
        "on_after_pass",
        "on_failed_pass",
    )
    @property
    def name(self) -> builtins.str:
        """The name, for messages."""
    @property
    def on_enter(self) -> isoform.Function | None:
        """Called when a context is entered."""
    @property
    def on_exit(self) -> isoform.Function | None:
        """Called when a context is left."""
    @property
    def on_should_run(self) -> isoform.Function | None:
        """Called with program and `PassInfo`; returns false to skip the pass."""
    @property
    def on_before_pass(self) -> isoform.Function | None:
        """Called with program and `PassInfo` before a pass."""
    @property
    def on_after_pass(self) -> isoform.Function | None:
        """Called with program and `PassInfo` after a pass."""
    @property
    def on_failed_pass(self) -> isoform.Function | None:
        """Called with program and `PassInfo` if a pass ends with an error."""
    def enter_pass_ctx(self) -> None:
        """Called when a context is entered, before it is the current one."""
    def exit_pass_ctx(self) -> None:
        """Called when a context has been left."""
    def should_run(self, mod: typing.Any, info: PassInfo) -> builtins.bool:
        """Return whether a pass runs. Not called for passes that the context requires.

        Args:
            mod: The program.
            info: The description of the pass.
        """
    def run_before_pass(self, mod: typing.Any, info: PassInfo) -> None:
        """Called before a pass.

        Args:
            mod: The program.
            info: The description of the pass.
        """
    def run_after_pass(self, mod: typing.Any, info: PassInfo) -> None:
        """Called after a pass.

        Args:
            mod: The new program.
            info: The description of the pass.
        """
    def run_failed_pass(self, mod: typing.Any, info: PassInfo) -> None:
        """Called if a pass ends with an exception after `run_before_pass`.

        Args:
            mod: The program.
            info: The description of the pass.
        """

class Cache(isoform.Object):
    """A `ResultCache` of any language, for contexts."""

    __match_args__ = ("load", "store")
    @property
    def load(self) -> isoform.Function:
        """Called with a key, a byte string; returns a byte string, or None."""
    @property
    def store(self) -> isoform.Function:
        """Called with a key and a byte string."""

class Memo(isoform.Object):
    """The declaration that a function pass is pure. The result depends only on the
    function, the options of the pass and of the context, and the declared reads of the
    program.
    """

    __match_args__ = ("version", "ignores", "reads", "code", "state")
    @property
    def version(self) -> builtins.str:
        """The version of the pass; change the version together with the results."""
    @property
    def ignores(self) -> builtins.bool:
        """True if the pass depends on no field that comparison ignores, such as names and
        spans: functions with differences only in these fields share an entry.
        """
    @property
    def reads(self) -> isoform.Function | None:
        """Returns what the pass reads of the program besides the signatures of the functions
        that it calls, from the function and the program. A pass without it gets a
        `NoProgram` in place of the program.
        """
    @property
    def code(self) -> builtins.str:
        """The place of the pass in source code, such as module and qualified name in
        Python: passes of one name from different places share no results.
        """
    @property
    def state(self) -> isoform.Function | None:
        """Returns all other influences on the pass, as a map from names to values, for
        example the captured variables of a closure. The pass must not change the
        values.
        """
    def __init__(
        self,
        version: builtins.str,
        ignores: builtins.bool = ...,
        reads: collections.abc.Callable[..., typing.Any] | None = ...,
        code: builtins.str = ...,
        state: collections.abc.Callable[..., typing.Any] | None = ...,
    ) -> None: ...

class NoProgram(isoform.Object):
    """Replaces the program for a pure pass without declared reads of the program."""

    __match_args__ = ("of_pass",)
    @property
    def of_pass(self) -> builtins.str:
        """The name of the pass."""
    def __getattr__(self, name: builtins.str) -> typing.Any:
        """Raise ValueError, AttributeError for special names."""
    def __getitem__(self, key: typing.Any) -> typing.Any:
        """Raise ValueError."""
    def __iter__(self) -> typing.Any:
        """Raise ValueError."""
    def __len__(self) -> builtins.int:
        """Raise ValueError."""
    def __contains__(self, _key: builtins.object) -> builtins.bool:
        """Raise ValueError."""

class PassContext(isoform.Object):
    """The conditions under which passes run.

    Only the innermost context of a thread counts: contexts are not merged. Outside of
    any context, every thread has a default context: level 2, and no other settings.
    """

    __match_args__ = (
        "opt_level",
        "required_pass",
        "disabled_pass",
        "instruments",
        "config",
        "cache",
    )
    @property
    def opt_level(self) -> builtins.int:
        """The level of optimization: a sequence skips passes of higher levels."""
    @property
    def required_pass(self) -> isoform.Array[builtins.str]:
        """The names of passes that a sequence runs at any level, and that instruments
        cannot skip.
        """
    @property
    def disabled_pass(self) -> isoform.Array[builtins.str]:
        """The names of passes that a sequence skips."""
    @property
    def instruments(self) -> isoform.List[PassInstrument]:
        """The instruments in calling order."""
    @property
    def config(self) -> isoform.Map[builtins.str, typing.Any]:
        """The values of options."""
    @property
    def cache(self) -> Cache | None:
        """Keeps the results of memoised passes."""
    @property
    def state(self) -> typing.Any:
        """The results of analyses."""
    def analysis_named(self, name: builtins.str, object: isoform.Object) -> typing.Any:
        """The result of an analysis for a program or function."""
    def config_value(self, key: builtins.str) -> typing.Any:
        """The value of an option, or the default if the context does not set the option."""
    def enter(self) -> None:
        """Makes the context current."""
    def leave(self) -> None:
        """Makes the previous context current."""
    def override_instruments(
        self, instruments: collections.abc.Sequence[PassInstrument] | None = ...
    ) -> None:
        """Replaces the instruments: leaves the present instruments, and enters the new
        instruments.
        """
    def pass_enabled(self, info: PassInfo) -> builtins.bool:
        """True if a sequence runs a pass of this description."""
    def __enter__(self) -> PassContext:
        """Enter the context, after calling its instruments.

        Raises the exception of an instrument; the context is not entered then, and has no
        instruments.
        """
    def __exit__(self, *_exception: builtins.object) -> None:
        """Leave the context, then call its instruments.

        Raises the exception of an instrument, RuntimeError if the context is not the
        current one.
        """
    @staticmethod
    def current() -> PassContext:
        """Return the innermost context of this thread, or the default one."""
    @staticmethod
    def list_configs() -> builtins.dict[builtins.str, builtins.dict[builtins.str, typing.Any]]:
        """Return the registered options: type, default and documentation by key."""
    def analysis(self, analysis: typing.Any, of: typing.Any) -> typing.Any:
        """Return the result of an analysis for a program or function.

        It is computed once: the result is kept until the context is left, or a pass
        replaces the object without preserving the analysis. Once a function pass has changed
        the copy of the program on which it works, results for that copy are computed each
        time.

        Args:
            analysis: A function that `analysis` decorates, or its name.
            of: The program or function.

        Raises exceptions of the analysis, ValueError if none has the name.
        """
    @property
    def diag_ctx(self) -> typing.Any:
        """The messages of the running pass, shown when it ends; None outside of passes."""

class Pass(isoform.Object):
    """A function from program to program.

    The base of `ModulePass`, `FunctionPass` and `Sequential`; another kind of
    pass extends this type and implements `RunPass`.
    """

    __match_args__ = ("info", "options")
    @property
    def info(self) -> PassInfo:
        """The name, and the conditions."""
    @property
    def options(self) -> isoform.Dict[builtins.str, typing.Any]:
        """The options used to make the pass by name, for text and files."""
    def __call__(self, mod: typing.Any) -> typing.Any:
        """Run the pass on a program, and return the new program.

        Raises exceptions of the pass and of instruments; a note of the exception names
        the pass, and the function of the program.
        """
    def __repr__(self) -> builtins.str:
        """Return kind, name and level as a sentence."""

class ModulePass(Pass):
    """A pass over a whole program."""

    __match_args__ = ("func", "info")
    @property
    def func(self) -> isoform.Function:
        """Called with the program and the context; returns the new program."""

class FunctionPass(Pass):
    """A pass over every function of a program.

    Functions do not see each other's changes: the pass puts all changes into the
    program together, at the end.
    """

    __match_args__ = ("func", "info", "function_class", "filter", "after", "memo")
    @property
    def func(self) -> isoform.Function:
        """Called with a function, the program and the context; returns the new function."""
    @property
    def function_class(self) -> builtins.str:
        """The key of the class whose functions are transformed; all functions if empty."""
    @property
    def filter(self) -> isoform.Function | None:
        """Called with a function; returns false to leave the function alone."""
    @property
    def after(self) -> isoform.Array[builtins.str]:
        """The names of passes to run on the result."""
    @property
    def memo(self) -> Memo | None:
        """The declaration that a cache may keep results, if the pass is pure."""

class Sequential(Pass):
    """A pass running a list of passes in order."""

    __match_args__ = ("passes",)
    @property
    def passes(self) -> isoform.Array[Pass]:
        """The passes in order."""
