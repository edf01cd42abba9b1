"""Algebraic data types and the choice between their constructors, under the names of Relay.

>>> from isoform import relay
>>> from isoform.relay import adt
>>> x = relay.var("x")
>>> adt.Match(x, [adt.Clause(adt.PatternWildcard(), x)]).complete
True
"""

from isoform.types.ir import Constructor, TypeCall, TypeData
from isoform.types.relay import (
    Clause,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
)

__all__ = [
    "Clause",
    "Constructor",
    "Match",
    "Pattern",
    "PatternConstructor",
    "PatternTuple",
    "PatternVar",
    "PatternWildcard",
    "TypeCall",
    "TypeData",
]
