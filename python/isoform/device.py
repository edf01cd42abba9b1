"""Devices, by DLPack's numbers: `Device` and `device`."""

from __future__ import annotations

import operator
from enum import IntEnum
from typing import Any

from isoform import _core

__all__ = ["DLDeviceType", "Device", "device"]


class DLDeviceType(IntEnum):
    """DLPack's numbers of the kinds of devices."""

    kDLCPU = 1  # noqa: N815
    kDLCUDA = 2  # noqa: N815
    kDLCUDAHost = 3  # noqa: N815
    kDLOpenCL = 4  # noqa: N815
    kDLVulkan = 7  # noqa: N815
    kDLMetal = 8  # noqa: N815
    kDLVPI = 9  # noqa: N815
    kDLROCM = 10  # noqa: N815
    kDLROCMHost = 11  # noqa: N815
    kDLExtDev = 12  # noqa: N815
    kDLCUDAManaged = 13  # noqa: N815
    kDLOneAPI = 14  # noqa: N815
    kDLWebGPU = 15  # noqa: N815
    kDLHexagon = 16  # noqa: N815
    kDLMAIA = 17  # noqa: N815
    kDLTrn = 18  # noqa: N815


_LARGEST = 2**32 - 1


class Device:
    """A device: a kind, for example CUDA, and an index among the devices of this kind.

    Args:
        device_type: a name like `"cuda"` or `"cuda:1"`, or DLPack's number.
        index: the index of the device; not allowed if the name includes one.

    Raises:
        ValueError: there is no such device.
        TypeError: the index is not an int.

    >>> gpu = Device("cuda", 1)
    >>> gpu, str(gpu), gpu.type, gpu.index
    (device(type='cuda', index=1), 'cuda:1', 'cuda', 1)
    >>> gpu == device("cuda:1"), gpu.dlpack_device_type()
    (True, <DLDeviceType.kDLCUDA: 2>)
    """

    __slots__ = ("_index", "_kind")

    _index: int
    _kind: int

    def __new__(cls, device_type: str | int, index: int | None = None) -> Device:
        """See the class."""
        given = 0
        if isinstance(device_type, str):
            kind, given = _core._device_parts(device_type)
            if index is not None and ":" in device_type and index != given:
                raise ValueError(f"{device_type!r} has an index, got index={index!r} besides")
        else:
            kind = operator.index(device_type)
        if index is not None:
            try:
                given = operator.index(index)
            except TypeError:
                name = type(index).__name__
                raise TypeError(f"the index of a device: expected int, got {name}") from None
        if not (0 <= kind <= _LARGEST and 0 <= given <= _LARGEST):
            raise ValueError(f"no device has the type {kind} and the index {given}")
        made = object.__new__(cls)
        object.__setattr__(made, "_kind", kind)
        object.__setattr__(made, "_index", given)
        return made

    @property
    def type(self) -> str:
        """The name of the kind."""
        return _core._device_name(self._kind)

    @property
    def device_type(self) -> int:
        """DLPack's number of the kind."""
        return self._kind

    @property
    def index(self) -> int:
        """The index of the device among devices of its kind."""
        return self._index

    def dlpack_device_type(self) -> int:
        """DLPack's number of the kind, as a `DLDeviceType` where known."""
        try:
            return DLDeviceType(self._kind)
        except ValueError:
            return self._kind

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses: a device never changes."""
        raise AttributeError(f"a Device cannot be changed: {name}")

    def __delattr__(self, name: str) -> None:
        """Refuses: a device never changes."""
        raise AttributeError(f"a Device cannot be changed: {name}")

    def __eq__(self, other: object) -> bool:
        """Returns whether both are the same device."""
        if not isinstance(other, Device):
            return NotImplemented
        return self._kind == other._kind and self._index == other._index

    def __hash__(self) -> int:
        """A hash of kind and index."""
        return hash((self._kind, self._index))

    def __str__(self) -> str:
        """As in `cuda:1`."""
        return f"{self.type}:{self._index}"

    def __repr__(self) -> str:
        """The call that makes it."""
        return f"device(type='{self.type}', index={self._index})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles it by its numbers."""
        return Device, (self._kind, self._index)


def device(type: str | int, index: int | None = None) -> Device:  # noqa: A002
    """The device of a name like `"cuda:1"`, or of a kind and an index.

    Raises:
        ValueError: there is no such device.
        TypeError: the index is not an int.

    >>> device("cpu") == device("cpu", 0)
    True
    """
    return Device(type, index)
