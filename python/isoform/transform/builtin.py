"""The passes of the infrastructure itself."""

from __future__ import annotations

import re
from typing import Any

from isoform.ir import _api
from isoform.ir.printing import own_text

from .log import show
from .passes import ModulePass, Pass, PassInfo
from .root import script

__all__ = ["ApplyPassToFunction", "PrintIR"]

_apply = _api.function("passes.apply_to_functions")


def PrintIR(header: str = "", show_meta_data: bool = False) -> ModulePass:  # noqa: N802
    """Return a pass that logs the program as text and leaves the program unchanged.

    The text goes to the logger `isoform.transform` at level INFO; where no handler of
    `logging` shows this level, to standard error.

    Args:
        header: A text before the program.
        show_meta_data: Print the general text, with large constants of modules in a
            section after the text.
    """

    def run(mod: Any, _ctx: Any) -> Any:
        text = None if show_meta_data else own_text(mod)
        if text is None:
            astext = getattr(mod, "astext", None)
            text = astext(show_meta_data) if astext else script(mod)
        show(f"PrintIR({header}):\n{text}")
        return mod

    return ModulePass(run, PassInfo(0, "PrintIR"))


def ApplyPassToFunction(  # noqa: N802
    transform: Pass, func_name_regex: str, error_if_no_function_matches_regex: bool = False
) -> ModulePass:
    """Return a pass that runs another pass only on functions with certain names.

    The other pass sees a program in which all other functions are replaced by stubs with
    their type and without a body; a function of Relay with a type unknown before type
    inference stays unchanged. Of the result of the other pass, only matching and new
    functions are used; the remaining functions stay, including deleted functions.

    Args:
        transform: The other pass.
        func_name_regex: Has to match the whole name.
        error_if_no_function_matches_regex: Raise ValueError when no name matches;
            otherwise the program is returned unchanged.
    """
    pattern = re.compile(func_name_regex)

    def wanted(name: str) -> bool:
        return pattern.fullmatch(name) is not None

    info = PassInfo(0, f"ApplyPassTo{func_name_regex}")
    return _apply(transform, info, error_if_no_function_matches_regex, wanted, _stub)


def _stub(function: Any) -> Any:
    """A function without a body that a pass can leave alone."""
    from isoform import ir, relay

    if not isinstance(function, ir.BaseFunc):
        raise TypeError(
            f"ApplyPassToFunction: expected a program of ir.BaseFunc, got a function of class "
            f"{type(function).__name__}"
        )
    known = function.checked_type_
    if known is None and isinstance(function, relay.Function):
        # Its callers need a type, possibly known only from the body.
        known = function.func_type_annotation()
        if not _is_complete(known):
            return function
    return ir.BaseFunc(attrs=function.attrs, checked_type_=known)


def _is_complete(known: Any) -> bool:
    """True if no part of a type is missing."""
    from isoform import ir, structural_walk

    missing: list[Any] = []
    structural_walk(known, (ir.IncompleteType, missing.append))
    return not missing
