"""The examples of the reference document on PyPTO's structural comparison.

Sections are numbered in the order of the table of contents, parts of a section in the order
of their headings; the summary, which the table leaves out, is 9:

| 1 overview | 2 reference and structural equality | 3 process of comparison |
| 4 reflection and field types | 5 structural_equal | 6 structural_hash |
| 7 auto-mapping | 8 implementation | 9 summary |

The docstring of a test begins with its sections. Statements without an example of their own are
tested in `test_pto_reference_statements.py`.
"""

from isoform.pto import DataType, ir


def test_reference_equality():
    """2.1: `==` compares identity, not content."""
    x1 = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    x2 = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())

    assert x1 != x2  # True - different pointers


def test_structural_equality():
    """1, 2.2: comparison by structure looks at content."""
    x1 = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    x2 = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    # With auto_mapping, these are structurally equal
    ir.assert_structural_equal(x1, x2, enable_auto_mapping=True)  # True


def test_definition_field():
    """4.4, 3.2: definitions are paired by position, values follow the setting."""
    span = ir.Span.unknown()
    dtype = DataType.INT64

    # Build: x = y
    x1 = ir.Var("x", ir.ScalarType(dtype), span)
    y1 = ir.Var("y", ir.ScalarType(dtype), span)
    stmt1 = ir.AssignStmt(x1, y1, span)

    # Build: a = b
    a = ir.Var("a", ir.ScalarType(dtype), span)
    b = ir.Var("b", ir.ScalarType(dtype), span)
    stmt2 = ir.AssignStmt(a, b, span)

    # var_ is DefField, so x1 and a are mapped automatically
    # value_ is UsualField, follows enable_auto_mapping setting
    ir.assert_structural_equal(stmt1, stmt2, enable_auto_mapping=True)
    assert not ir.structural_equal(stmt1, stmt2)


def test_basic_usage():
    """5.1: equal constants are equal, nodes of two types are not."""
    # Constants with same value
    c1 = ir.ConstInt(42, DataType.INT64, ir.Span.unknown())
    c2 = ir.ConstInt(42, DataType.INT64, ir.Span.unknown())
    ir.assert_structural_equal(c1, c2)  # True

    # Different node types
    var = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    const = ir.ConstInt(1, DataType.INT64, ir.Span.unknown())
    assert not ir.structural_equal(var, const)  # False


def _increments():
    x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    y = ir.Var("y", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    one = ir.ConstInt(1, DataType.INT64, ir.Span.unknown())

    expr1 = ir.Add(x, one, DataType.INT64, ir.Span.unknown())  # x + 1
    expr2 = ir.Add(y, one, DataType.INT64, ir.Span.unknown())  # y + 1
    return expr1, expr2


def test_example_1():
    """5.2, example 1: variables are strict by default."""
    expr1, expr2 = _increments()
    # Different variable pointers → not equal
    assert not ir.structural_equal(expr1, expr2, enable_auto_mapping=False)


def test_example_2():
    """5.2, example 2: with mapping, names and identity do not matter."""
    expr1, expr2 = _increments()
    # Same expressions with auto_mapping
    ir.assert_structural_equal(expr1, expr2, enable_auto_mapping=True)


def test_example_3():
    """5.2, example 3: one variable is mapped to one variable at all places."""
    # Build: x + x
    x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    expr1 = ir.Add(x, x, DataType.INT64, ir.Span.unknown())

    # Build: y + y
    y = ir.Var("y", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    expr2 = ir.Add(y, y, DataType.INT64, ir.Span.unknown())

    # x maps to y consistently in both positions
    ir.assert_structural_equal(expr1, expr2, enable_auto_mapping=True)


def test_example_4():
    """5.2, example 4: a variable is not mapped to two."""
    # Build: x + x
    x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    expr1 = ir.Add(x, x, DataType.INT64, ir.Span.unknown())

    # Build: y + z (different variables)
    y = ir.Var("y", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    z = ir.Var("z", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    expr2 = ir.Add(y, z, DataType.INT64, ir.Span.unknown())

    # Cannot map x to both y and z
    assert not ir.structural_equal(expr1, expr2, enable_auto_mapping=True)


def test_hash_basic_usage():
    """6.1: equal constants have equal hashes."""
    c1 = ir.ConstInt(42, DataType.INT64, ir.Span.unknown())
    c2 = ir.ConstInt(42, DataType.INT64, ir.Span.unknown())

    # Same value → same hash
    assert ir.structural_hash(c1) == ir.structural_hash(c2)


def test_hash_consistency():
    """6.2: nodes that are equal under a mode have equal hashes under it."""

    def build_expr():
        x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
        c = ir.ConstInt(5, DataType.INT64, ir.Span.unknown())
        return ir.Add(x, c, DataType.INT64, ir.Span.unknown())

    expr1 = build_expr()
    expr2 = build_expr()

    assert ir.structural_equal(expr1, expr2, enable_auto_mapping=True)
    # Guaranteed: equal hashes
    assert ir.structural_hash(expr1, enable_auto_mapping=True) == ir.structural_hash(
        expr2, enable_auto_mapping=True
    )


class CSEPass:
    """Common Subexpression Elimination."""

    def __init__(self):
        self.expr_cache = {}

    def deduplicate(self, expr):
        hash_val = ir.structural_hash(expr, enable_auto_mapping=False)

        if hash_val in self.expr_cache:
            for cached_expr in self.expr_cache[hash_val]:
                if ir.structural_equal(expr, cached_expr, enable_auto_mapping=False):
                    return cached_expr  # Reuse
            self.expr_cache[hash_val].append(expr)
        else:
            self.expr_cache[hash_val] = [expr]

        return expr


def test_cse_pass():
    """6.3, 1, 7.1: hash and comparison without mapping find common subexpressions."""
    x = ir.Var("x", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    y = ir.Var("y", ir.ScalarType(DataType.INT64), ir.Span.unknown())
    cse = CSEPass()
    first = cse.deduplicate(x + 1)
    assert cse.deduplicate(x + 1) is first
    other = cse.deduplicate(y + 1)
    assert other is not first
    assert cse.deduplicate(y + 1) is other
