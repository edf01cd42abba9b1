"""Visitors and mutators of the statement dialect."""

import pytest
from scale import scaled

from isoform import _core, structural_mutate, structural_visit
from isoform.pto import DataType, ir

INT = ir.ScalarType(DataType.INT64)


def var(name, ty=INT):
    return ir.Var(name, ty)


def chain(depth):
    expr = ir.ConstInt(1, DataType.INT64)
    x = var("x")
    for _ in range(depth):
        expr = ir.Add(x, expr, DataType.INT64)
    return expr


CLASSES = sorted(
    key.removeprefix("pto.")
    for key in _core.registered_type_keys()
    if key.startswith("pto.") and issubclass(_core.class_of(key), ir.IRNode)
)

# Names that differ from a simple splitting at capitals.
METHODS = {
    "Add": "visit_add",
    "ForStmt": "visit_for_stmt",
    "SeqStmts": "visit_seq_stmts",
    "TupleGetItemExpr": "visit_tuple_get_item_expr",
    "InCoreScopeStmt": "visit_in_core_scope_stmt",
    "IRNode": "visit_ir_node",
    "MemRef": "visit_mem_ref",
    "BitShiftLeft": "visit_bit_shift_left",
    "Program": "visit_program",
    "Function": "visit_function",
    "Expr": "visit_expr",
    "Stmt": "visit_stmt",
    "BinaryExpr": "visit_binary_expr",
    "UnaryExpr": "visit_unary_expr",
}


@pytest.mark.parametrize("base", [ir.IRVisitor, ir.IRMutator])
@pytest.mark.parametrize("name", METHODS)
def test_methods_have_the_names_of_the_classes(base, name):
    assert callable(getattr(base, METHODS[name]))


@pytest.mark.parametrize("base", [ir.IRVisitor, ir.IRMutator])
def test_every_class_has_a_method(base):
    methods = {name.replace("_", "") for name in dir(base) if name.startswith("visit_")}
    assert {f"visit{name.lower()}" for name in CLASSES} <= methods


class Log(ir.IRVisitor):
    def __init__(self):
        self.met = []

    def visit_var(self, op):
        self.met.append(op.name_hint)

    def visit_add(self, op):
        self.met.append("add")
        super().visit_add(op)

    def visit_binary_expr(self, op):
        self.met.append("binary")
        super().visit_binary_expr(op)


def test_an_object_is_visited_once_where_it_is_bound_or_used():
    x = var("x")
    log = Log()
    log.visit(ir.SeqStmts([ir.AssignStmt(x, ir.ConstInt(1, DataType.INT64)), ir.EvalStmt(x)]))
    assert log.met.count("x") == 1
    log.visit(x)
    assert log.met.count("x") == 2, "another visit begins anew"


def test_any_method_is_a_way_into_a_visit():
    x = var("x")
    for start in ("visit", "visit_expr", "visit_add", "visit_stmt"):
        log = Log()
        getattr(log, start)(ir.Add(x, x, DataType.INT64))
        assert log.met == ["add", "binary", "x"], start


def test_children_are_visited_by_the_methods_of_their_own_classes():
    class Right(Log):
        def visit_add(self, op):
            # The names of PyPTO for visits below a node.
            self.visit_expr(op.right)

    right = Right()
    right.visit(ir.Add(var("x"), ir.Mul(var("y"), var("z"), DataType.INT64), DataType.INT64))
    assert right.met == ["binary", "y", "z"]


def test_overrides_of_a_subclass_call_those_of_their_class():
    class More(Log):
        def visit_add(self, op):
            self.met.append("more")
            super().visit_add(op)

    more = More()
    more.visit(ir.Add(var("x"), var("y"), DataType.INT64))
    assert more.met == ["more", "add", "binary", "x", "y"]


def test_a_visit_that_failed_does_not_hinder_the_next_one():
    class Fails(ir.IRVisitor):
        def visit_var(self, op):
            raise LookupError(op.name_hint)

    fails = Fails()
    for _ in range(2):
        with pytest.raises(LookupError, match="x"):
            fails.visit(ir.Add(var("x"), var("y"), DataType.INT64))


def test_depth_without_overrides_is_limited_by_memory_only():
    class Count(ir.IRVisitor):
        count = 0

        def visit_const_int(self, op):
            self.count += op.value

    class Next(ir.IRMutator):
        def visit_const_int(self, op):
            return ir.ConstInt(op.value + 1, DataType.INT64)

    deep = chain(scaled(1_000_000))
    count = Count()
    count.visit(deep)
    assert count.count == 1
    assert Next().visit(deep) is not deep


def test_overrides_that_nest_too_deeply_raise_recursion_error():
    class Deep(ir.IRVisitor):
        def visit_add(self, op):
            super().visit_add(op)

    class DeepMutator(ir.IRMutator):
        def visit_add(self, op):
            return super().visit_add(op)

    deep = chain(scaled(100_000, 30_000))
    for start in [Deep(), DeepMutator()][: scaled(2, 1)]:
        with pytest.raises(RecursionError):
            start.visit(deep)
    Deep().visit(chain(20))


def test_a_mutator_that_changes_nothing_returns_the_same_object():
    class Nothing(ir.IRMutator):
        def visit_stmt(self, op):
            return super().visit_stmt(op)

    x = var("x")
    body = ir.SeqStmts([ir.AssignStmt(x, ir.ConstInt(1, DataType.INT64)), ir.ReturnStmt([x])])
    program = ir.Program([ir.Function("f", [], [INT], body)], "p", ir.Span.unknown())
    assert ir.IRMutator().visit(program) is program
    assert Nothing().visit(program) is program


class Redefine(ir.IRMutator):
    """Puts other variables in definitions, and nowhere else."""

    def visit_assign_stmt(self, op):
        op = super().visit_assign_stmt(op)
        return ir.AssignStmt(ir.Var(f"{op.var.name_hint}_new", op.var.type), op.value, op.span)

    def visit_for_stmt(self, op):
        op = super().visit_for_stmt(op)
        k = ir.Var("k", op.loop_var.type)
        return ir.ForStmt(k, op.start, op.stop, op.step, [], op.body, [], op.span)


def test_definitions_that_a_statement_replaces_are_replaced_in_their_uses():
    i, x, y = var("i"), var("x"), var("y")
    loop = ir.ForStmt(i, 0, 8, 1, [], ir.AssignStmt(x, i + 1), [])
    stmts = ir.SeqStmts([loop, ir.AssignStmt(x, x + 2), ir.AssignStmt(y, x)])
    assert ir.python_print(Redefine().visit(stmts)) == (
        "for k in pl.range(0, 8, 1):\n"
        "    x_new: pl.INT64 = k + 1\n"
        "x_new_1: pl.INT64 = x_new + 2\n"
        "y_new: pl.INT64 = x_new_1\n"
    )


def test_variables_are_remapped_before_their_uses_are_rewritten():
    class Loops(ir.IRMutator):
        def visit_for_stmt(self, op):
            k = ir.Var("k", op.loop_var.type)
            self.remap(op.loop_var, k)
            return super().visit_for_stmt(op)

    i = var("i")
    loop = ir.ForStmt(i, 0, 8, 1, [], ir.EvalStmt(i), [])
    result = Loops().visit(loop)
    assert result.loop_var.name_hint == "k"
    assert result.body.expr is result.loop_var
    with pytest.raises(RuntimeError, match="no rewrite is running"):
        Loops().remap(i, i)


def test_shared_nodes_are_rewritten_once_and_stay_shared():
    class Swap(ir.IRMutator):
        count = 0

        def visit_add(self, op):
            self.count += 1
            return ir.Add(self.visit(op.right), self.visit(op.left), DataType.INT64)

    expr = var("x")
    for _ in range(60):
        expr = ir.Add(expr, expr, DataType.INT64)
    swap = Swap()
    result = swap.visit(expr)
    assert swap.count == 60
    assert result.left is result.right


def test_results_are_checked():
    class Wrong(ir.IRMutator):
        def visit_var(self, op):
            return ir.BreakStmt()

    x = var("x")
    with pytest.raises(TypeError, match=r"left"):
        Wrong().visit(ir.Add(x, x, DataType.INT64))


def test_regions_are_told_apart_unless_that_is_refused():
    x = var("x")
    stmts = ir.SeqStmts([ir.AssignStmt(x, ir.ConstInt(1, DataType.INT64)), ir.EvalStmt(x)])
    for apart, count in ((True, 2), (False, 1)):
        met, rewritten = [], []
        structural_visit(stmts, (ir.Var, lambda v, _, met=met: met.append(v)), regions_apart=apart)
        assert len(met) == count

        def same(value, _, *, rewritten=rewritten):
            rewritten.append(value)
            return value

        assert structural_mutate(stmts, (ir.Var, same), regions_apart=apart) is stmts
        assert len(rewritten) == count
