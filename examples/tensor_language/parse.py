"""Reads programs from text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from .nodes import (
    Binary,
    BinaryOp,
    Buffer,
    DType,
    Expr,
    Float,
    For,
    Function,
    Int,
    Let,
    Load,
    Module,
    Stmt,
    Store,
    Var,
    sequence,
)

TOKEN = re.compile(
    r"(?P<space>[ \t\r]+|\#[^\n]*)|(?P<newline>\n)|(?P<float>\d+\.\d*)|(?P<int>\d+)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<mark>[-+*(){}\[\],:;=])"
)
INFIX = {op.symbol: op for op in BinaryOp if op.precedence < 3}
CALLS = {op.symbol: op for op in BinaryOp if op.precedence == 3}


@dataclass(frozen=True)
class Token:
    """A word of the text, and its line."""

    kind: str
    text: str
    line: int


class ParseError(ValueError):
    """A text that is not a program."""


def tokens(text: str) -> list[Token]:
    """The words of a text, and one for its end."""
    found: list[Token] = []
    line, position = 1, 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise ParseError(f"line {line}: unexpected {text[position]!r}")
        kind = match.lastgroup or ""
        if kind not in ("space", "newline"):
            found.append(Token(kind, match.group(), line))
        line += kind == "newline"
        position = match.end()
    return [*found, Token("end", "the end", line)]


class Parser:
    """Recursive descent, with the names in scope."""

    def __init__(self, text: str) -> None:
        self.tokens = tokens(text)
        self.position = 0
        self.scope: dict[str, Var | Buffer] = {}

    @property
    def next(self) -> Token:
        """The word to read."""
        return self.tokens[self.position]

    def fail(self, expected: str) -> NoReturn:
        """Raises an error at the next word."""
        raise ParseError(f"line {self.next.line}: expected {expected}, got {self.next.text!r}")

    def take(self, text: str) -> bool:
        """Reads the word if it comes next."""
        if self.next.text == text and self.next.kind != "end":
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Reads the word, which must come next."""
        if not self.take(text):
            self.fail(repr(text))

    def word(self, kind: str, expected: str) -> str:
        """Reads a word of a kind."""
        token = self.next
        if token.kind != kind:
            self.fail(expected)
        self.position += 1
        return token.text

    def name(self) -> str:
        """Reads a name."""
        return self.word("name", "a name")

    def number(self) -> int:
        """Reads an integer."""
        return int(self.word("int", "an integer"))

    def module(self) -> Module:
        """Reads all functions."""
        functions: list[Function] = []
        while self.next.kind != "end":
            functions.append(self.function())
        return Module(functions)

    def function(self) -> Function:
        """Reads `fn name(buffers) { statements }`."""
        line = self.next.line
        self.expect("fn")
        name = self.name()
        self.scope = {}
        self.expect("(")
        params: list[Buffer] = []
        while not self.take(")"):
            params.append(self.buffer())
            self.scope[params[-1].name] = params[-1]
            if not self.take(",") and self.next.text != ")":
                self.fail("',' or ')'")
        return Function(name, params, self.block(), line=line)

    def buffer(self) -> Buffer:
        """Reads `name: f32[4, 8]`."""
        line, name = self.next.line, self.name()
        self.expect(":")
        dtype = self.name()
        if dtype not in [known.value for known in DType]:
            raise ParseError(f"line {line}: no type {dtype!r}")
        self.expect("[")
        shape = [self.number()]
        while self.take(","):
            shape.append(self.number())
        self.expect("]")
        return Buffer(name, DType(dtype), shape, line=line)

    def block(self) -> Stmt:
        """Reads statements in braces."""
        self.expect("{")
        outer = dict(self.scope)
        body = self.statements()
        self.scope = outer
        return body

    def statements(self) -> Stmt:
        """Reads statements up to the brace; the rest belongs to a `let`."""
        stmts: list[Stmt] = []
        while not self.take("}"):
            line = self.next.line
            if self.take("let"):
                name = self.name()
                self.expect("=")
                value = self.expression()
                self.expect(";")
                var = self.scope[name] = Var(name, DType.F32, line=line)
                stmts.append(Let(value, var, self.statements(), line=line))
                break
            stmts.append(self.statement())
        return sequence(stmts)

    def statement(self) -> Stmt:
        """Reads a loop or a store."""
        line = self.next.line
        if self.take("for"):
            var = Var(self.name(), line=line)
            self.expect("in")
            extent = self.number()
            outer = dict(self.scope)
            self.scope[var.name] = var
            body = self.block()
            self.scope = outer
            return For(var, extent, body, line=line)
        buffer = self.bound()
        if not isinstance(buffer, Buffer):
            raise ParseError(f"line {line}: {buffer.name!r} is not a buffer")
        indices = self.indices()
        self.expect("=")
        value = self.expression()
        self.expect(";")
        return Store(buffer, indices, value, line=line)

    def bound(self) -> Var | Buffer:
        """Reads a name in scope."""
        line, name = self.next.line, self.name()
        if name not in self.scope:
            raise ParseError(f"line {line}: no variable {name!r} here")
        return self.scope[name]

    def indices(self) -> list[Expr]:
        """Reads `[i, j]`."""
        self.expect("[")
        found = [self.expression()]
        while self.take(","):
            found.append(self.expression())
        self.expect("]")
        return found

    def expression(self, precedence: int = 1) -> Expr:
        """Reads operators of at least a precedence."""
        lhs = self.operand()
        while (op := INFIX.get(self.next.text)) is not None and op.precedence >= precedence:
            line = self.next.line
            self.expect(op.symbol)
            lhs = Binary(op, lhs, self.expression(op.precedence + 1), line=line)
        return lhs

    def operand(self) -> Expr:
        """Reads a number, a name, an element, a call or an expression in parentheses."""
        token = self.next
        if self.take("("):
            inner = self.expression()
            self.expect(")")
            return inner
        if token.kind == "int":
            return Int(self.number(), line=token.line)
        if token.kind == "float":
            return Float(float(self.word("float", "a number")), line=token.line)
        if token.text in CALLS:
            self.position += 1
            self.expect("(")
            lhs = self.expression()
            self.expect(",")
            rhs = self.expression()
            self.expect(")")
            return Binary(CALLS[token.text], lhs, rhs, line=token.line)
        if token.kind != "name":
            self.fail("an expression")
        found = self.bound()
        if isinstance(found, Var):
            return found
        return Load(found, self.indices(), line=token.line)


def parse(text: str) -> Module:
    """Reads a program.

    Raises ParseError with the line.
    """
    return Parser(text).module()
