"""The library's global functions in attributes: `_ffi_api.RecursiveEq` and others."""

from isoform.registry import init_ffi_api

init_ffi_api("ffi", __name__)
