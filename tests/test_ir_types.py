"""Types of `isoform.ir`."""

import copy
import pickle

import pytest
from ir_checklist import covers

from isoform import ir, relay, structural_equal, structural_hash, tir

F32 = ir.PrimType("float32")


def equal(left, right, **options):
    """Compare, and check that hashes and files agree with the result."""
    answer = structural_equal(left, right, **options)
    if answer:
        assert structural_hash(left, **options) == structural_hash(right, **options)
    return answer


@covers("C20", "C20.1")
def test_type_equality_is_structural():
    a, b = ir.TupleType([F32]), ir.TupleType([ir.PrimType("float32")])
    assert a == b
    assert not a != b  # noqa: SIM202
    assert hash(a) == hash(b)
    assert not a.same_as(b)
    assert a.same_as(a)
    assert a != ir.TupleType([])
    assert a != 3
    with pytest.raises(TypeError, match="cannot be constructed directly"):
        ir.Type()


@covers("C21")
def test_type_kind():
    assert [(kind.name, kind.value) for kind in ir.TypeKind] == [
        ("Type", 0),
        ("ShapeVar", 1),
        ("BaseType", 2),
        ("Constraint", 4),
        ("AdtHandle", 5),
        ("TypeData", 6),
    ]


@covers("C22")
def test_type_var():
    a = ir.TypeVar("a")
    assert (a.name_hint, a.kind) == ("a", ir.TypeKind.Type)
    assert ir.TypeVar("a", ir.TypeKind.ShapeVar).kind == ir.TypeKind.ShapeVar
    b = ir.TypeVar("b")
    assert not equal(a, b)
    assert equal(a, b, map_free_vars=True)
    assert not equal(a, ir.TypeVar("a", ir.TypeKind.ShapeVar), map_free_vars=True)
    call = a(F32)
    assert isinstance(call, ir.TypeCall)
    assert call.func.same_as(a)
    assert list(call.args) == [F32]
    with pytest.raises(ValueError, match="3 is not a valid TypeKind"):
        ir.TypeVar("a", 3)
    with pytest.raises(TypeError, match=r"ir.TypeVar.__init__\(\) argument 'name_hint'"):
        ir.TypeVar(3)


@covers("C23")
def test_global_type_var():
    a, b = ir.GlobalTypeVar("List"), ir.GlobalTypeVar("Other")
    assert a.kind == ir.TypeKind.AdtHandle
    # The name is a hint.
    assert equal(a, b, map_free_vars=True)
    assert not equal(a, b)
    assert isinstance(a(F32), ir.TypeCall)


@covers("C24")
def test_prim_type():
    assert ir.PrimType("int32").dtype == "int32"
    assert ir.PrimType("int32") != ir.PrimType("int64")
    with pytest.raises(TypeError, match="dtype"):
        ir.PrimType("word")


@covers("C25")
def test_pointer_type():
    assert ir.PointerType(F32).storage_scope == ""
    assert equal(ir.PointerType(F32), ir.PointerType(F32, "global"))
    assert not equal(ir.PointerType(F32), ir.PointerType(F32, "shared"))
    assert not equal(ir.PointerType(F32), ir.PointerType(ir.PrimType("int8")))
    a, b = ir.TypeVar("a"), ir.TypeVar("b")
    functions = [ir.FuncType([ir.PointerType(v)], v, [v]) for v in (a, b)]
    assert equal(*functions)


@covers("C26")
def test_tuple_type():
    assert list(ir.TupleType([F32, F32]).fields) == [F32, F32]
    with pytest.raises(TypeError, match=r"ir\.Type"):
        ir.TupleType([1])


@covers("C27")
def test_func_type():
    a, b = ir.TypeVar("a"), ir.TypeVar("b")
    f = ir.FuncType([a, b], a, [a, b])
    assert list(f.type_constraints) == []
    assert list(ir.FuncType([], F32).type_params) == []
    assert list(ir.FuncType([], F32, None, None).type_params) == []
    assert ir.FuncType([F32], None) == ir.FuncType([F32], ir.TupleType([]))
    c, d = ir.TypeVar("c"), ir.TypeVar("d")
    # Parameters are bound before the types of arguments, which come first.
    assert equal(f, ir.FuncType([c, d], c, [c, d]))
    assert not equal(f, ir.FuncType([c, d], d, [c, d]))
    # They are bound in the type and nowhere else.
    assert not equal([f, a], [ir.FuncType([c, d], c, [c, d]), c])
    assert equal([f, f], [ir.FuncType([v, w], v, [v, w]) for v, w in ((c, d), (d, c))])


@covers("C28")
def test_incomplete_type():
    hole, other = ir.IncompleteType(), ir.IncompleteType()
    assert hole.kind == ir.TypeKind.Type
    assert not equal(hole, other)
    assert equal(hole, other, map_free_vars=True)
    shape = ir.IncompleteType(ir.TypeKind.ShapeVar)
    assert not equal(hole, shape, map_free_vars=True)


@covers("C29")
def test_ref_type():
    assert ir.RelayRefType(F32).value == F32
    assert equal(ir.RelayRefType(F32), ir.RelayRefType(ir.PrimType("float32")))


@covers("C30", "C30.1")
def test_tensor_type():
    t = ir.TensorType((2, 3))
    assert t.dtype == "float32"
    assert all(isinstance(size, tir.IntImm) for size in t.shape)
    assert t.concrete_shape == (2, 3)
    assert t == ir.TensorType([2, 3], "float32")
    assert t != ir.TensorType([2, 3], "int8")
    n = tir.Var("n", "int64")
    with pytest.raises(TypeError, match=r"dimension 1, got tir\.Var"):
        _ = ir.TensorType([2, n]).concrete_shape
    assert ir.TensorType([]).concrete_shape == ()


@covers("C31", "C32")
def test_affine_types():
    scale, zero = relay.Var("scale"), relay.Var("zero")
    t = ir.TensorAffineType(scale, zero, "int8")
    assert (t.dtype, t.axis) == ("int8", -1)
    assert t == ir.TensorAffineType(scale, zero, "int8", -1)
    assert t != ir.TensorAffineType(scale, zero, "int8", 0)
    assert t != ir.TensorAffineType(zero, scale, "int8")
    assert list(ir.TupleAffineType([t]).types) == [t]


@covers("C33")
def test_type_call():
    header = ir.GlobalTypeVar("List")
    call = ir.TypeCall(header, [F32])
    assert call == header(F32)
    assert call != header(ir.PrimType("int8"))


@covers("C34", "C36")
def test_type_relation(key):
    from isoform import register_global_func

    name = key("relation")
    register_global_func(name, lambda *_: True)
    func = ir.EnvFunc.get(name)
    relation = ir.TypeRelation(func, [F32, F32], 1, ir.DictAttrs({"axis": 1}))
    assert isinstance(relation, ir.TypeConstraint)
    assert relation.num_inputs == 1
    assert relation == ir.TypeRelation(func, [F32, F32], 1, ir.DictAttrs({"axis": 1}))
    assert relation != ir.TypeRelation(func, [F32, F32], 1, None)
    f = ir.FuncType([F32], F32, type_constraints=[relation])
    assert list(f.type_constraints) == [relation]


@covers("C35")
def test_type_data():
    def list_type(name, var, nil="Nil"):
        header, a = ir.GlobalTypeVar(name), ir.TypeVar(var)
        constructors = [
            ir.Constructor(nil, [], header),
            ir.Constructor("Cons", [a, header(a)], header),
        ]
        return ir.TypeData(header, [a], constructors)

    data = list_type("List", "A")
    assert data.header.name_hint == "List"
    assert equal(data, list_type("List", "B"))
    assert not equal(data, list_type("List", "A", nil="Empty"))
    # Both header and parameters are bound before the constructors.
    renamed = list_type("Other", "A")
    assert equal(data, renamed)
    # Other data types are other types: their headers are different variables.
    header, other = data.header, renamed.header
    assert not equal(header(F32), other(F32))


def all_types():
    a, header = ir.TypeVar("a"), ir.GlobalTypeVar("T")
    constructor = ir.Constructor("C", [a], header)
    scale = relay.Var("scale")
    tensor = ir.TensorType([tir.Var("n", "int64"), 4])
    affine = ir.TensorAffineType(scale, scale, "int8")
    return [
        a,
        header,
        F32,
        ir.PointerType(F32, "shared"),
        ir.TupleType([F32, tensor]),
        ir.FuncType([a], a, [a]),
        ir.IncompleteType(),
        ir.RelayRefType(F32),
        tensor,
        affine,
        ir.TupleAffineType([affine, affine]),
        header(F32),
        ir.TypeData(header, [a], [constructor]),
    ]


@pytest.mark.parametrize("ty", all_types(), ids=lambda ty: type(ty).__name__)
def test_round_trips(ty):
    def same(other):
        return type(other) is type(ty) and structural_equal(ty, other, map_free_vars=True)

    assert same(ir.load_json(ir.save_json(ty)))
    assert same(pickle.loads(pickle.dumps(ty)))
    assert same(copy.deepcopy(ty))
