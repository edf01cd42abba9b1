"""Dataflow patterns on random programs, compared with exhaustive search and definitions."""

import random

from dataflow import A, B, Rule, bindings
from scale import scaled

from isoform import relay, structural_equal
from isoform.relay.dataflow_pattern import ExprGraph, dominates, is_op, is_var, rewrite, wildcard
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
    for arg in child.args:
        if arg is parent:
            continue
        if not isinstance(arg, relay.Call) or arg.op.name not in ("exp", "log"):
            return False
        if not paths_are_fine(arg, parent):
            return False
    return True


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
    for _ in range(scaled(5_000)):
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
