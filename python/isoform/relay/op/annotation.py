"""Annotations: calls that describe a program and keep the values.

>>> from isoform import relay
>>> x = relay.var("x", shape=(2,))
>>> call = relay.annotation.stop_fusion(x)
>>> call.op.name, relay.op.infer_type_local(call).concrete_shape
('annotation.stop_fusion', (2,))
"""

from __future__ import annotations

from typing import Any

from isoform.device import Device

from ._make import make, unary

__all__ = ["checkpoint", "compiler_begin", "compiler_end", "on_device", "stop_fusion"]

stop_fusion = unary("annotation.stop_fusion")
checkpoint = unary("annotation.checkpoint")
_compiler_begin = make("annotation.compiler_begin")
_compiler_end = make("annotation.compiler_end")
_on_device = make("on_device")


def compiler_begin(data: Any, compiler: str) -> Any:
    """Return the input of a region for an external compiler.

    Args:
        data: The expression.
        compiler: The name of the compiler.
    """
    return _compiler_begin(data, compiler)


def compiler_end(data: Any, compiler: str) -> Any:
    """Return the result of a region for an external compiler.

    Args:
        data: The expression.
        compiler: The name of the compiler.
    """
    return _compiler_end(data, compiler)


def on_device(
    body: Any, device: Any, constrain_result: bool = False, constrain_body: bool = True
) -> Any:
    """Return the value of an expression that is bound to a device.

    Args:
        body: The expression.
        device: The device, or a text like `cuda:0`.
        constrain_result: True if the result of the call is on the device.
        constrain_body: True if the body is computed on the device.
    """
    place = Device(device) if isinstance(device, str) else device
    return _on_device(body, place, constrain_result, constrain_body)
