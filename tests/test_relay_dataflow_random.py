"""Dataflow patterns on random programs, compared with exhaustive search and definitions."""

import random

import numpy as np
from dataflow import A, B, Rule, bindings
from scale import scaled

from isoform import relay, structural_equal
from isoform.relay.dataflow_pattern import (
    ExprGraph,
    dominates,
    is_constant,
    is_function,
    is_if,
    is_let,
    is_op,
    is_var,
    rewrite,
    wildcard,
)
from isoform.relay.testing import call


def solutions(pattern, value, found):
    key = id(pattern)
    if key in found:
        if found[key] is value:
            yield found
        return
    kind, name, *parts = pattern
    found = {**found, key: value}
    if kind == "any":
        yield found
    elif kind == "either":
        for inner in parts:
            yield from solutions(inner, value, found)
    elif kind == value[0] == "var":
        if name in ("", value[1]):
            yield found
    elif kind == value[0] == "call" and name == value[1] and len(parts) == len(value) - 2:
        orders = [parts, parts[::-1]] if name in ("add", "multiply") else [parts]
        for order in orders:
            yield from all_solutions(order, value[2:], found)


def all_solutions(patterns, values, found):
    if not patterns:
        yield found
        return
    for first in solutions(patterns[0], values[0], found):
        yield from all_solutions(patterns[1:], values[1:], first)


NAMES = {"add": 2, "subtract": 2, "multiply": 2, "exp": 1}


def random_graph(rng, size, leaves, inner):
    """The last vertex of a random graph, where vertices are made of earlier vertices."""
    made = list(leaves)
    for _ in range(size):
        made.append(inner(rng, made))
    return made[-1]


def random_call(rng, made):
    name = rng.choice(list(NAMES))
    return ("call", name, *(rng.choice(made[-3:]) for _ in range(NAMES[name])))


def random_pattern(rng, made):
    if rng.random() < 0.3:
        return ("either", "", rng.choice(made[-3:]), rng.choice(made))
    return random_call(rng, made)


def converted(tree, make, memo):
    if id(tree) not in memo:
        parts = [converted(part, make, memo) for part in tree[2:]]
        memo[id(tree)] = make(tree[0], tree[1], parts)
    return memo[id(tree)]


def as_expr(kind, name, parts):
    return relay.var(name) if kind == "var" else call(name, *parts)


def as_pattern(kind, name, parts):
    if kind == "any":
        return wildcard()
    if kind == "var":
        return is_var(name)
    return parts[0] | parts[1] if kind == "either" else is_op(name)(*parts)


def test_matches_agree_with_exhaustion():
    rng = random.Random(7)
    agreed = {True: 0, False: 0}
    for _ in range(scaled(30_000)):
        leaves = [("var", "x"), ("var", "y")]
        value = random_graph(rng, rng.randint(1, 5), leaves, random_call)
        tree = random_graph(
            rng, rng.randint(1, 5), [("any", ""), ("var", ""), ("var", "x")], random_pattern
        )
        exprs, patterns = {}, {}
        expr = converted(value, as_expr, exprs)
        pattern = converted(tree, as_pattern, patterns)
        wanted = next(solutions(tree, value, {}), None)
        found = bindings(pattern, expr)
        assert (found is None) == (wanted is None), (tree, value)
        agreed[found is not None] += 1
        if found is not None and wanted is not None:
            for key, part in wanted.items():
                assert found[patterns[key]][0] is exprs[id(part)], (tree, value)
    assert min(agreed.values()) > sum(agreed.values()) // 20


def below(expr):
    """The expression with everything inside, each once."""
    found = {}
    pending = [expr]
    while pending:
        part = pending.pop()
        if id(part) not in found:
            found[id(part)] = part
            pending.extend(part.args if isinstance(part, relay.Call) else [])
    return list(found.values())


def reaches_without(expr, target, avoided):
    """True if a path leads from an expression up to a target without another vertex."""
    pending, seen = [expr], set()
    while pending:
        part = pending.pop()
        if part is avoided or id(part) in seen:
            continue
        seen.add(id(part))
        if part is target:
            return True
        pending.extend(part.args if isinstance(part, relay.Call) else [])
    return False


def paths_are_fine(child, parent):
    """True if all paths up from a child end at the parent, over unary operators."""
    if not isinstance(child, relay.Call):
        return False
    operands = {id(arg): arg for arg in child.args}
    if len(operands) > 1:
        operands = {key: arg for key, arg in operands.items() if isinstance(arg, relay.Call)}
    for arg in operands.values():
        if arg is parent:
            continue
        if not isinstance(arg, relay.Call) or arg.op.name not in ("exp", "log"):
            return False
        if not paths_are_fine(arg, parent):
            return False
    return bool(operands)


def test_dominators_agree_with_their_definition():
    rng = random.Random(11)
    agreed = {True: 0, False: 0}
    path = is_op("exp")(wildcard()) | is_op("log")(wildcard())
    parent = is_op("multiply")(wildcard(), wildcard())
    pattern = dominates(parent, path, is_op("add")(wildcard(), wildcard()))
    seen = []
    rule = Rule(pattern, lambda pre, post, nodes: seen.append(pre) or post)
    for _ in range(scaled(10_000)):
        made = [A, A * B]
        for _ in range(rng.randint(2, 7)):
            name = rng.choice(["exp", "log", "add", "add", "multiply"])
            parts = [rng.choice(made[-4:]) for _ in range(1 if name in ("exp", "log") else 2)]
            made.append(call(name, *parts))
        root = made[-1]
        expected = {
            id(child)
            for child in below(root)
            if isinstance(child, relay.Call) and child.op.name == "add"
            for above in below(child)
            if above is not child
            and isinstance(above, relay.Call)
            and above.op.name == "multiply"
            and paths_are_fine(child, above)
            and not reaches_without(root, above, child)
        }
        graph = ExprGraph(root)
        found = {id(value) for value in below(root) if graph.match(pattern, value)}
        assert found == expected
        for value in below(root):
            agreed[id(value) in expected] += 1
        seen.clear()
        rewrite(rule, root)
        assert {id(value) for value in seen} <= expected
    assert agreed[True] > 40


def inlined(expr):
    """An expression with partitioned functions in the place of their calls."""

    def inline(pre, post):
        func = post.op if isinstance(post, relay.Call) else None
        if isinstance(func, relay.Function) and "PartitionedFromPattern" in func.attrs:
            return relay.bind(func.body, dict(zip(func.params, post.args, strict=True)))
        return None

    return relay.post_order_rewrite(expr, inline)


def test_partitions_keep_the_program():
    rng = random.Random(5)
    changed = 0
    for _ in range(scaled(8_000)):
        value = random_graph(rng, rng.randint(3, 10), [("var", "x"), ("var", "y")], random_call)
        tree = random_graph(rng, rng.randint(1, 4), [("any", ""), ("any", "")], random_pattern)
        expr = converted(value, as_expr, {})
        pattern = converted(tree, as_pattern, {})
        done = pattern.partition(expr)
        changed += done is not expr
        assert relay.analysis.well_formed(done)
        assert structural_equal(inlined(done), expr, map_free_vars=False)
        graph = ExprGraph(expr)
        owners = {}
        for group in graph.groups(pattern):
            inside = [graph.vertices[number] for number in group.members]
            inside = [part for part in inside if isinstance(part, relay.Call)]
            for part in inside:
                assert owners.setdefault(id(part), group) is group
                for user in below(expr) if part is not group.root else []:
                    is_user = isinstance(user, relay.Call) and any(part is arg for arg in user.args)
                    if is_user and not any(user is inner for inner in inside):
                        assert not reaches_without(expr, user, group.root)
    assert changed > 40


def number(value):
    return relay.const(value, "int32")


def scalar(name):
    return relay.var(name, "int32")


def random_inner(rng, made, unknown):
    """An expression of earlier ones, with branches, scopes and calls that have an effect."""
    parts = [rng.choice(made[-4:]) for _ in range(3)]
    v = scalar("v")
    kind = rng.randrange(9)
    if kind < 3:
        return call(rng.choice(["add", "subtract", "multiply"]), *parts[:2])
    if kind == 3:
        return relay.If(relay.less(parts[0], number(1)), parts[1], parts[2])
    if kind == 4:
        return relay.Let(v, parts[0], rng.choice([v * (v + parts[1]), (v - v) + parts[1] * v]))
    if kind == 5:
        return relay.Function([v], rng.choice([(v + v) * parts[0], v * v]))(parts[1])
    return unknown(parts[0])


def random_scopes(rng, made):
    """A pattern of earlier ones, with branches and scopes."""
    some = [rng.choice(made[-6:]) for _ in range(3)]
    kind = rng.randrange(9)
    if kind < 4:
        return is_op(rng.choice(["add", "subtract", "multiply"]))(*some[:2])
    if kind == 4:
        return is_if(*rng.choice([some, [wildcard(), *some[:2]]]))
    if kind == 5:
        return is_let(is_var(), *some[:2])
    if kind == 6:
        return is_function(None, some[0])(wildcard())
    return rng.choice([some[0](some[1]), is_constant(), some[0] | some[1]])


def traced(body, unknown, params):
    """The function of a body that also returns a trace of the calls of `unknown`."""
    trace, p, result, done = relay.var("trace"), scalar("p"), scalar("result"), relay.var("done")
    record = relay.RefWrite(trace, relay.RefRead(trace) * number(3) + p)
    func = relay.Function([p], relay.Let(done, record, p + relay.RefRead(trace)))
    body = relay.Let(result, body, relay.Tuple([result, relay.RefRead(trace)]))
    start = relay.Let(trace, relay.RefCreate(number(1)), relay.Let(unknown, func, body))
    return relay.Function(params, start)


def results(func):
    evaluate = relay.create_executor().evaluate(func)
    return [
        [int(v.numpy()) for v in evaluate(np.int32(a), np.int32(b))] for a, b in ((0, 2), (3, 1))
    ]


def test_partitions_keep_values_and_effects():
    rng = random.Random(13)
    changed = refused = 0
    for _ in range(scaled(4_000)):
        x, y, unknown = scalar("x"), scalar("y"), relay.var("unknown")
        made = [x, y, number(2)]
        for _ in range(rng.randint(2, 8)):
            made.append(random_inner(rng, made, unknown))
        patterns = [wildcard(), wildcard(), is_var(), is_var("unknown")(wildcard())]
        for _ in range(rng.randint(1, 4)):
            patterns.append(random_scopes(rng, patterns))
        func = traced(made[-1], unknown, [x, y])
        done = patterns[-1].partition(func)
        refused += bool(ExprGraph(func).refusals(patterns[-1], to_extract=True))
        if done is not func:
            changed += 1
            assert not relay.analysis.free_vars(done)
            assert relay.analysis.well_formed(done)
            assert results(done) == results(func), (patterns[-1], relay.pretty_print(func))
    assert min(changed, 3 * refused) > scaled(4_000) // 40
