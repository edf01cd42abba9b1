"""The choices that types and statements have: every enum of the dialect."""

from isoform import _core
from isoform.dataclasses.native_enum import make_native_enum

__all__: list[str] = []

for _key in _core.registered_type_keys():
    # The number formats have methods, and therefore their own module.
    if (
        _key.startswith("pto.")
        and _key != "pto.DataType"
        and _core.type_attrs_get(_key, "enum.members", None, False) is not None
    ):
        make_native_enum(_key, __name__)
