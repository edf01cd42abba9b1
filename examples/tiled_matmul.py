"""A tiled matrix product: built, printed, verified, optimised, and compared before and after.

The kernel multiplies tile by tile. Offsets are computed where they are needed,
as a code generator writes them; two passes clean that up, and comparison says
what they changed.
"""

from isoform import structural_digest
from isoform.pto import DataType, ir

INDEX = ir.ScalarType(DataType.INDEX)


def tile_type(size: int, dtype: DataType, space: ir.MemorySpace, offset: int) -> ir.TileType:
    """Make the type of a square tile at a place in a buffer of the core."""
    pointer = ir.Var(f"{space.name.lower()}_buffer", ir.PtrType())
    memory = ir.MemRef(pointer, offset, size * size * dtype.bits // 8)
    return ir.TileType([size, size], dtype, memory, None, space)


def matmul(m: int, n: int, k: int, size: int, prefix: str = "") -> ir.Program:
    """Build `c = a @ b`, all variables named with a prefix."""
    a_type = ir.TensorType([m, k], DataType.FP16)
    b_type = ir.TensorType([k, n], DataType.FP16)
    c_type = ir.TensorType([m, n], DataType.FP32)
    left = tile_type(size, DataType.FP16, ir.MemorySpace.Left, 0)
    right = tile_type(size, DataType.FP16, ir.MemorySpace.Right, 0)
    acc_type = tile_type(size, DataType.FP32, ir.MemorySpace.Acc, 0)

    def name(text: str) -> str:
        return prefix + text

    def load(tensor: ir.Expr, row: ir.Expr, column: ir.Expr, tile: ir.TileType) -> ir.Call:
        return ir.Call(ir.Op("tile.load"), [tensor, row, column], tile)

    ib = ir.IRBuilder()
    with ib.function("matmul", type=ir.FunctionType.InCore) as f:
        a, b = f.param(name("a"), a_type), f.param(name("b"), b_type)
        c = f.param(name("c"), c_type, ir.ParamDirection.InOut)
        f.return_type(c_type)
        with ib.for_loop(name("i"), 0, m // size) as rows:
            c_row = rows.iter_arg(name("c_row"), c)
            c_done = rows.return_var(name("c_done"))
            i = rows.loop_var
            with ib.for_loop(name("j"), 0, n // size) as columns:
                c_tile = columns.iter_arg(name("c_tile"), c_row)
                row_done = columns.return_var(name("row_done"))
                j = columns.loop_var
                zero = ib.let(name("zero"), ir.Call(ir.Op("tile.zeros"), [], acc_type))
                pipeline = ir.ForKind.Pipeline
                with ib.for_loop(
                    name("p"), 0, k // size, kind=pipeline, attrs={"stages": 2}
                ) as steps:
                    acc = steps.iter_arg(name("acc"), zero)
                    total = steps.return_var(name("total"))
                    p = steps.loop_var
                    # What a code generator writes: base + index * size, each time.
                    a_tile = ib.let(name("a_tile"), load(a, i * size + 0, p * size + 0, left))
                    b_tile = ib.let(name("b_tile"), load(b, p * size + 0, j * size * 1, right))
                    product = ir.Call(ir.Op("tile.matmul_acc"), [acc, a_tile, b_tile], acc_type)
                    ib.yield_(ib.let(name("sum"), product))
                place = [total, i * size + 0, j * size * 1, c_tile]
                ib.yield_(ib.let(name("stored"), ir.Call(ir.Op("tile.store"), place, c_type)))
            ib.yield_(row_done)
        ib.return_(c_done)
    return ir.Program([f.get_result()], "matmul")


def main() -> None:
    """Build the kernel, optimise it, and say what changed."""
    program = matmul(256, 256, 128, 64)
    print("# As it was built")
    print(ir.python_print(program))
    assert ir.verify(program) == []

    # Names are for people: the same kernel with other names is the same kernel,
    # also in the caches of another machine.
    renamed = matmul(256, 256, 128, 64, prefix="my_")
    assert ir.structural_equal(program, renamed)
    assert structural_digest(program) == structural_digest(renamed)
    print("# The kernel with other names is equal:", structural_digest(renamed).hex()[:16])
    print()

    simplified = ir.simplify(program)
    optimised = ir.cse(simplified)
    print("# After `simplify` and `cse`")
    print(ir.python_print(optimised))
    assert ir.verify(optimised) == []
    # Nothing is left to do, so the passes return the very same object.
    assert ir.cse(ir.simplify(optimised)) is optimised
    assert ir.structural_hash(program) != ir.structural_hash(optimised)

    print("# The first thing that the passes changed")
    try:
        ir.assert_structural_equal(program, optimised)
    except ValueError as error:
        print(error)
    else:
        raise AssertionError("the passes changed nothing")

    # The optimised kernel survives every form of file.
    again = ir.deserialize(ir.serialize(optimised))
    ir.assert_structural_equal(optimised, again)


if __name__ == "__main__":
    main()
