"""A small tensor language, as the author of an IR writes it: nodes, text, passes, a cache.

    python -m tensor_language            (in the folder `examples`)

`nodes` declares the classes, `parse` reads programs, `show` writes them, `passes` has the
passes and the pipeline, and `evaluate` runs programs on lists.
"""

from .nodes import Function, Module
from .parse import ParseError, parse
from .passes import pipeline
from .show import show, show_module

__all__ = ["Function", "Module", "ParseError", "parse", "pipeline", "show", "show_module"]
