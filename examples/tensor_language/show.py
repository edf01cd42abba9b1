"""Writes programs as the text that `parse` reads.

The trait `Script` makes it the text of the classes everywhere: `print`, notebooks,
differences, and the instruments of passes.
"""

from __future__ import annotations

from isoform import NodeFunctor
from isoform.transform import Script
from isoform.type_attrs import implement
from isoform.visitors import Steps

from .nodes import Binary, Buffer, Float, For, Function, Int, Let, Load, Module, Seq, Store, Var


class Names:
    """A name for each variable, the same wherever it occurs."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}
        self.names: dict[Var | Buffer, str] = {}

    def of(self, var: Var | Buffer) -> str:
        """The name of a variable; a second one of the same name gets a number."""
        if var not in self.names:
            count = self.taken.get(var.name, 0)
            self.taken[var.name] = count + 1
            self.names[var] = f"{var.name}_{count}" if count else var.name
        return self.names[var]


class Text(NodeFunctor[str], dialect="tensor_language"):
    """The text of a node; the lines of statements have no indentation yet."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def visit_var(self, node: Var) -> str:
        """Its name."""
        return self.names.of(node)

    def visit_buffer(self, node: Buffer) -> str:
        """Its name; the declaration is written by the function."""
        return self.names.of(node)

    def visit_int(self, node: Int) -> str:
        """Digits."""
        return str(node.value)

    def visit_float(self, node: Float) -> str:
        """Digits and a point."""
        text = repr(node.value)
        return text if "." in text else f"{text}.0"

    def visit_binary(self, node: Binary) -> Steps[str]:
        """An infix operator, or a call."""
        op = node.op
        lhs, rhs = (yield node.lhs), (yield node.rhs)
        if op.precedence == 3:
            return f"{op.symbol}({lhs}, {rhs})"
        if isinstance(node.lhs, Binary) and node.lhs.op.precedence < op.precedence:
            lhs = f"({lhs})"
        if isinstance(node.rhs, Binary) and node.rhs.op.precedence <= op.precedence:
            rhs = f"({rhs})"
        return f"{lhs} {op.symbol} {rhs}"

    def visit_load(self, node: Load) -> Steps[str]:
        """`a[i, j]`."""
        indices: tuple[str, ...] = yield node.indices
        return f"{self.names.of(node.buffer)}[{', '.join(indices)}]"

    def visit_store(self, node: Store) -> Steps[str]:
        """`a[i, j] = value;`."""
        indices: tuple[str, ...] = yield node.indices
        value: str = yield node.value
        return f"{self.names.of(node.buffer)}[{', '.join(indices)}] = {value};"

    def visit_let(self, node: Let) -> Steps[str]:
        """A line for the name, and the rest."""
        value: str = yield node.value
        line = f"let {self.names.of(node.var)} = {value};"
        body: str = yield node.body
        return f"{line}\n{body}" if body else line

    def visit_seq(self, node: Seq) -> Steps[str]:
        """A line for each statement."""
        stmts: tuple[str, ...] = yield node.stmts
        return "\n".join(stmts)

    def visit_for(self, node: For) -> Steps[str]:
        """A loop."""
        head = f"for {self.names.of(node.var)} in {node.extent} {{"
        body: str = yield node.body
        return f"{head}\n{indented(body)}}}"

    def visit_function(self, node: Function) -> Steps[str]:
        """A function with the declarations of its buffers."""
        params = ", ".join(
            f"{self.names.of(param)}: {param.dtype}[{', '.join(map(str, param.shape))}]"
            for param in node.params
        )
        body: str = yield node.body
        return f"fn {node.name}({params}) {{\n{indented(body)}}}\n"


def indented(text: str) -> str:
    """Lines with two spaces before each."""
    return "".join(f"  {line}\n" for line in text.splitlines())


def show(function: Function) -> str:
    """The text of a function."""
    return Text(Names()).visit(function)


def show_module(module: Module) -> str:
    """The text of a program: each function names its variables alone."""
    return "\n".join(map(show, module.functions))


implement(Function, Script, {"script": show})
implement(Module, Script, {"script": show_module})
