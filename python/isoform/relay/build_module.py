"""Functions with some of their parameters known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.ir import _api

if TYPE_CHECKING:
    from collections.abc import Mapping

_bind_params = _api.function("relay.ir.bind_params_by_name")


def bind_params_by_name(func: Any, params: Mapping[str, Any]) -> Any:
    """Replace the parameters of a function that have certain names by constants.

    Args:
        func: The function.
        params: The tensors or arrays by name. Names that no parameter has are ignored.

    Raises ValueError for a name of several parameters. Linear in the number of objects.

    >>> import numpy as np
    >>> from isoform import relay
    >>> x, w = relay.var("x"), relay.var("w")
    >>> func = relay.Function([x, w], relay.Tuple([x, w]))
    >>> bound = relay.build_module.bind_params_by_name(func, {"w": np.zeros(3), "z": np.zeros(1)})
    >>> len(bound.params), bound.body[1].data.shape
    (1, (3,))
    """
    return _bind_params(func, dict(params))
