"""Every name of the public Python API that users of tvm-ffi rely on."""

import builtins
import importlib
import pkgutil
import sys
from pathlib import Path

import pytest

import isoform
from isoform import stubgen

NAMES = {
    "isoform": """
        Array List Map Dict Shape Tensor Object Function Module Device device dtype
        DLDeviceType from_dlpack convert convert_func ObjectConvertible method
        StructuralKey StructuralVisitor StructuralMutator VisitInterrupt WalkOrder
        WalkResult InplaceMode DefRegionKind structural_equal structural_hash
        structural_walk structural_visit structural_map structural_mutate
        get_first_structural_mismatch register_global_func get_global_func
        get_global_func_metadata remove_global_func register_object register_error
        init_ffi_api access_path dataclasses serialization structural registry container
        core error testing __version__
        structural_digest explain_structural_mismatch assert_structural_equal substitute
        last_visit_count verify
        recursive_eq recursive_lt recursive_le recursive_gt recursive_ge recursive_hash
        deep_copy repr_print
    """,
    "isoform.access_path": "AccessPath AccessStep AccessKind",
    "isoform.dataclasses": """
        Object py_class c_class field fields Field KW_ONLY MISSING replace asdict astuple
        is_dataclass init_property Enum IntEnum StrEnum EnumAttrMap EnumState auto entry
    """,
    "isoform.dataclasses.enum": "ENUM_STATE_ATTR",
    "isoform.serialization": "to_json_graph_str from_json_graph_str to_bytes from_bytes",
    "isoform.registry": """
        register_object register_global_func get_global_func list_global_func_names
        remove_global_func get_registered_type_keys init_ffi_api
    """,
    "isoform.container": "Array List Map Dict MISSING",
    "isoform.core": """
        MISSING KWARGS Object ObjectConvertible Function Error String Bytes DataType
        OpaquePyObject TypeInfo TypeField TypeSchema FFIProperty
    """,
    "isoform.structural": """
        structural_equal structural_hash structural_walk structural_visit structural_map
        structural_mutate get_first_structural_mismatch StructuralKey StructuralVisitor
        StructuralMutator VisitInterrupt WalkOrder WalkResult InplaceMode DefRegionKind
    """,
    "isoform.error": "StructuralError register_error",
    "isoform.testing": (
        "check_declarations check_laws check_types oracle_equal oracle_canonical random_module "
        "random_program rust_family strategy"
    ),
}
PAIRS = [(module, name) for module, names in NAMES.items() for name in names.split()]


@pytest.mark.parametrize(("module", "name"), PAIRS)
def test_name_exists(module, name):
    assert hasattr(importlib.import_module(module), name)


@pytest.mark.parametrize(("module", "name"), PAIRS)
def test_public_names_are_documented(module, name):
    thing = getattr(importlib.import_module(module), name)
    if callable(thing) and name not in ("MISSING", "KWARGS", "KW_ONLY"):
        assert (thing.__doc__ or "").strip()


# The names in the peers of these modules; users import them by name.
FOLDS = {"all", "any", "max", "min"}
REDUCTIONS = FOLDS | {"sum"}
SHADOWING = {
    "isoform.tir": FOLDS,
    "isoform.tir.op": FOLDS,
    "isoform.pto.ir": {"pow"},
    "isoform.relay": REDUCTIONS | {"abs", "round"},
    "isoform.relay.op": REDUCTIONS | {"abs", "round"},
    "isoform.relay.op.reduce": REDUCTIONS,
    "isoform.relay.op.tensor": {"abs", "round"},
}


def test_a_star_import_hides_no_builtin():
    found = pkgutil.walk_packages(isoform.__path__, "isoform.")
    for name in ["isoform", *(module.name for module in found)]:
        if name != "isoform.__main__":
            names = set(getattr(importlib.import_module(name), "__all__", ()))
            assert names & set(dir(builtins)) == SHADOWING.get(name, set()), name
    assert isoform.bool == "bool"


def test_names_are_one_object_wherever_they_are():
    assert isoform.Object is isoform.core.Object is isoform.dataclasses.Object
    assert isoform.Array is isoform.container.Array
    assert isoform.structural_equal is isoform.structural.structural_equal
    assert isoform.register_global_func is isoform.registry.register_global_func
    assert isoform.register_error is isoform.error.register_error
    assert isoform.Function is isoform.core.Function


def test_the_functions_behind_the_peers_private_module():
    from isoform import _ffi_api

    aliases = {
        "RecursiveEq": isoform.recursive_eq,
        "RecursiveHash": isoform.recursive_hash,
        "RecursiveLt": isoform.recursive_lt,
        "RecursiveLe": isoform.recursive_le,
        "RecursiveGt": isoform.recursive_gt,
        "RecursiveGe": isoform.recursive_ge,
    }
    for name, function in aliases.items():
        assert getattr(_ffi_api, name)(1, 1) == function(1, 1) if name != "RecursiveHash" else True
        assert isoform.get_global_func(f"ffi.{name}", allow_missing=True) is not None
    assert _ffi_api.RecursiveHash(1) == isoform.recursive_hash(1)
    assert _ffi_api.ReprPrint([1]) == isoform.repr_print([1])
    assert _ffi_api.DeepCopy([1]) == [1]


def test_version():
    parts = isoform.__version__.split(".")
    assert len(parts) >= 2
    assert parts[0].isdigit()


def test_the_package_is_typed():
    from importlib.resources import files

    assert files("isoform").joinpath("py.typed").is_file()


def test_stubs_of_users_know_the_types_of_every_stub_of_the_package():
    shipped = {path.stem for path in Path(isoform.__file__).parent.glob("types/*.pyi")}
    assert set(stubgen._SHIPPED) == shipped


def test_a_star_import_hides_no_module_of_the_standard_library():
    names = {}
    exec("import dataclasses\nfrom isoform import *", names)  # noqa: S102
    assert names["dataclasses"].__name__ == "dataclasses"
    assert not set(isoform.__all__) & sys.stdlib_module_names
