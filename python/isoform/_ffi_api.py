"""The library's own global functions, as attributes: `_ffi_api.RecursiveEq` and so on."""

from isoform.registry import init_ffi_api

init_ffi_api("ffi", __name__)
