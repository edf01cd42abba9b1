"""Passes: functions from program to program, run under a context that instruments observe.

The same passes run on modules of `isoform.ir`, on programs of every dialect, and on your
own types. `docs/passes.md` is the guide.

>>> from isoform import ir
>>> from isoform.transform import PassContext, Sequential, module_pass
>>> @module_pass(opt_level=1)
... def AddMain(mod, ctx):
...     return ir.IRModule({**mod.functions, "main": ir.BaseFunc()})
>>> with PassContext(opt_level=3):
...     mod = Sequential([AddMain])(ir.IRModule())
>>> [var.name_hint for var in mod.functions]
['main']
"""

from .analysis import analysis
from .bisect import Bisected, bisect
from .builtin import ApplyPassToFunction, PrintIR
from .cache import Memo, MemoryCache, NoProgram, StoreCache
from .context import PassContext, register_config_option
from .cse import CSE, cse
from .decorators import function_pass, module_pass
from .instrument import (
    ChangesInstrument,
    DumpIR,
    PassInstrument,
    PassPrintingInstrument,
    PassTimingInstrument,
    PrintAfterAll,
    PrintBeforeAll,
    PrintChanges,
    VerifyInstrument,
    changes_text,
    pass_instrument,
)
from .passes import FunctionPass, ModulePass, Pass, PassInfo, Sequential
from .registry import list_passes, make_pass, parse_pipeline, pipeline_text, register_pass
from .root import Check, ModuleScript, Root, Script, Signature, functions, script

__all__ = [
    "CSE",
    "ApplyPassToFunction",
    "Bisected",
    "ChangesInstrument",
    "Check",
    "DumpIR",
    "FunctionPass",
    "Memo",
    "MemoryCache",
    "ModulePass",
    "ModuleScript",
    "NoProgram",
    "Pass",
    "PassContext",
    "PassInfo",
    "PassInstrument",
    "PassPrintingInstrument",
    "PassTimingInstrument",
    "PrintAfterAll",
    "PrintBeforeAll",
    "PrintChanges",
    "PrintIR",
    "Root",
    "Script",
    "Sequential",
    "Signature",
    "StoreCache",
    "VerifyInstrument",
    "analysis",
    "bisect",
    "changes_text",
    "cse",
    "function_pass",
    "functions",
    "list_passes",
    "make_pass",
    "module_pass",
    "parse_pipeline",
    "pass_instrument",
    "pipeline_text",
    "register_config_option",
    "register_pass",
    "script",
]
