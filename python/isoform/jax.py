"""Programs of JAX as values, with digests that mean the same in every process.

    key = isoform.structural_digest(isoform.jax.program(jax.make_jaxpr(f)(x)))

Two programs are equal if they compute the same operations from the same inputs: the names
of jitted functions, the order of independent equations, and equations that nothing uses
do not matter. Dtypes, weak types, literals down to the sign of zero, arrays that a function
closes over, and every parameter of an equation do.

JAX is not imported here: a jaxpr is any object with `eqns`, `invars`, `outvars` and
`constvars`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any

from isoform import _core
from isoform.interop import Call, Constant, Input, Item, Program, Record
from isoform.interop._record import Converter, importable_name, tensor_of

__all__ = ["cache_key", "program"]

# Rules for derivatives: evaluation and compilation ignore them.
_DERIVATIVES = frozenset(
    ["jvp_jaxpr_fun", "jvp_jaxpr_thunk", "fwd_jaxpr_thunk", "bwd", "out_trees", "symbolic_zeros"]
)
# By primitive: the parameters that change no result.
_IGNORED = {
    **{name: frozenset(["name"]) for name in ("jit", "pjit", "closed_call", "core_call")},
    **dict.fromkeys(
        ("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr", "custom_jvp_call_jaxpr"),
        _DERIVATIVES,
    ),
}
_NOTHING: frozenset[str] = frozenset()


def cache_key(lowered: Any, *, compiler_options: Any = None, extra: Any = None) -> str:
    """A key for what XLA compiles a lowered function to.

        lowered = jax.jit(f).lower(x)
        key = isoform.jax.cache_key(lowered)

    The key survives renamed functions, changed lines of source files, and other numbers of
    private functions, all of which change the key of JAX's own cache or its text. It changes
    with every operation, attribute, type, constant, sharding and layout, with the versions of
    jax and jaxlib, and with the kind and number of devices.

    Args:
        lowered: what `jax.jit(f).lower(...)` returns, or a program of `isoform.mlir`.
        compiler_options: the options that `lowered.compile` gets.
        extra: anything else that the compiled program depends on, such as flags of XLA, as plain
            values.

    Raises:
        TypeError: the object is not lowered, or an option is not a plain value.

    Example:
        >>> import isoform.jax
        >>> program = isoform.mlir.read("func.func @main() { return }")
        >>> len(isoform.jax.cache_key(program))
        64
    """
    from isoform import mlir, types

    if isinstance(lowered, types.mlir.Program):
        found = lowered
    elif hasattr(lowered, "compiler_ir"):
        found = mlir.from_module(lowered.compiler_ir("stablehlo"))
    else:
        raise TypeError(
            f"isoform.jax.cache_key: expected a lowered function, got {type(lowered).__name__}; "
            "jax.jit(f).lower(...) returns one"
        )
    # The name of the module is that of the function, and no program calls a module by name.
    found = mlir.normal_form(_without_module_name(found), symbol_order=False)
    # Not their texts: the text of a large array leaves elements out.
    return _core.structural_digest([found, _platform(), compiler_options, extra]).hex()


def _without_module_name(found: Any) -> Any:
    from isoform import types

    module = found.module
    properties = {k: v for k, v in module.properties.items() if k != "sym_name"}
    attributes = {k: v for k, v in module.attributes.items() if k != "sym_name"}
    if len(properties) + len(attributes) == len(module.properties) + len(module.attributes):
        return found
    bare = types.mlir.Operation(
        module.name,
        module.operands,
        properties=properties,
        attributes=attributes,
        regions=module.regions,
    )
    return types.mlir.Program(bare, resources=found.resources)


def _platform() -> list[str]:
    """The versions and devices of the JAX of this process, if it is loaded."""
    jax, jaxlib = sys.modules.get("jax"), sys.modules.get("jaxlib")
    if jax is None:
        return []
    devices = [f"{device.platform} {device.device_kind}" for device in jax.devices()]
    return [jax.__version__, str(getattr(jaxlib, "__version__", "")), *devices]


def program(jaxpr: Any, *, on_unknown: Callable[[Any], Any] | None = None) -> Program:
    """The program of a jaxpr, as a graph.

    Equations with effects, such as `jax.debug.print`, count in their order, used or not.
    Functions count by the name under which they can be imported, so the versions of
    libraries belong into a key beside the program. Rules for derivatives
    (`custom_vjp`, `custom_jvp`) do not count: compiled code has no trace of them.
    Takes linear time in the number of equations and the bytes of constants, and hashes
    nested jaxprs once for each level around them.

    Args:
        jaxpr: what `jax.make_jaxpr(f)(...)` returns, or a jaxpr without constants, whose
            `constvars` are then the first inputs.
        on_unknown: returns what to convert instead of an object whose fields are unknown,
            for example a callback that is not the function of a module.

    Raises:
        TypeError: the object is not a jaxpr, or a parameter has no value; the message
            names the equation, the parameter and the class.

    Example:
        >>> from types import SimpleNamespace as Node
        >>> import isoform.jax
        >>> # As `jax.make_jaxpr(jax.lax.neg)(1.0).jaxpr`, with fewer attributes.
        >>> x, y = (type("Var", (), {"aval": "float32[]"})() for _ in "xy")
        >>> equation = Node(
        ...     primitive=Node(name="neg"), invars=[x], outvars=[y], params={}, effects=()
        ... )
        >>> jaxpr = Node(constvars=[], invars=[x], eqns=[equation], outvars=[y])
        >>> isoform.jax.program(jaxpr).outputs[0].call.op
        'neg'
    """
    if not _is_jaxpr(jaxpr) and not _is_closed(jaxpr):
        raise TypeError(
            f"isoform.jax.program: expected a jaxpr, got {type(jaxpr).__name__}; "
            "jax.make_jaxpr(f)(...) returns one"
        )
    return _Reader(on_unknown).read(jaxpr)


def _is_jaxpr(obj: Any) -> bool:
    return hasattr(obj, "eqns") and hasattr(obj, "invars") and hasattr(obj, "constvars")


def _is_closed(obj: Any) -> bool:
    return hasattr(obj, "consts") and _is_jaxpr(getattr(obj, "jaxpr", None))


class _Reader:
    """Converts jaxprs; equal nested ones become one object.

    JAX caches traces, so whether two equations have the same jaxpr or two equal ones
    depends on the history of the process. Sharing counts in a graph, and equal
    programs that are always shared make it the same in every process.
    """

    def __init__(self, on_unknown: Callable[[Any], Any] | None) -> None:
        self._converter = Converter(
            "isoform.jax.program", fields=_fields, on_unknown=on_unknown, special=self._special
        )
        # Jaxprs are kept alive, so no address is reused.
        self._read: dict[int, tuple[Any, Program]] = {}
        self._by_digest: dict[bytes, Program] = {}
        self._types: dict[Any, Any] = {}

    def read(self, root: Any) -> Program:
        """The program of a jaxpr; those inside come first, on a stack of its own."""
        stack = [root]
        while stack:
            jaxpr = stack[-1]
            if id(jaxpr) in self._read:
                stack.pop()
                continue
            waiting = [inner for inner in _nested(jaxpr) if id(inner) not in self._read]
            if waiting:
                stack += waiting
                continue
            made = self._program(jaxpr)
            if jaxpr is not root:
                made = self._by_digest.setdefault(_core.structural_digest(made), made)
            self._read[id(jaxpr)] = (jaxpr, made)
            stack.pop()
        return self._read[id(root)][1]

    def _program(self, given: Any) -> Program:
        jaxpr, consts = (given.jaxpr, given.consts) if _is_closed(given) else (given, None)
        values: dict[Any, Any] = {}
        inputs: list[Input] = []
        variables = list(jaxpr.invars)
        if consts is None:
            variables = [*jaxpr.constvars, *variables]
        else:
            for variable, const in zip(jaxpr.constvars, consts, strict=True):
                value = self._converter.convert(const, "<root>.consts")
                values[variable] = Constant(value, self._type(variable.aval))
        for variable in variables:
            values[variable] = Input(self._type(variable.aval))
            inputs.append(values[variable])
        effects: list[Call] = []
        for position, equation in enumerate(jaxpr.eqns):
            call = self._call(equation, position, values)
            if equation.effects:
                effects.append(call)
            for index, variable in enumerate(equation.outvars):
                values[variable] = Item(call, index)
        outputs = [self._operand(atom, values) for atom in jaxpr.outvars]
        return Program(inputs, outputs, effects)

    def _call(self, equation: Any, position: int, values: dict[Any, Any]) -> Call:
        name = equation.primitive.name
        ignored = _IGNORED.get(name, _NOTHING)
        place = f"<root>.eqns[{position}] ({name})"
        convert = self._converter.convert
        options = {
            key: convert(value, f"{place}.params['{key}']")
            for key, value in equation.params.items()
            if key not in ignored
        }
        context = getattr(equation, "ctx", None)
        if context is not None:
            options["<context>"] = convert(context, f"{place}.ctx")
        return Call(
            name,
            [self._operand(atom, values) for atom in equation.invars],
            options,
            [self._type(variable.aval) for variable in equation.outvars],
            None,
        )

    def _operand(self, atom: Any, values: dict[Any, Any]) -> Any:
        # A literal is not hashable in every version of JAX.
        if hasattr(atom, "val"):
            return Constant(_literal(atom), self._type(atom.aval))
        return values[atom]

    def _type(self, aval: Any) -> Any:
        """The record of an abstract value; equal ones are made once."""
        try:
            return self._types[aval]
        except KeyError:
            made = self._types[aval] = self._converter.convert(aval, "<root>.aval")
            return made

    def _special(self, obj: Any) -> tuple[Any] | None:
        kind = type(obj)
        if _is_jaxpr(obj) or _is_closed(obj):
            # Inside of an object whose class has fields.
            return (self.read(obj),)
        if hasattr(obj, "_base_array"):
            # Random keys, whose dtype is JAX's own.
            return (Record("jax.key", {"impl": str(obj.dtype), "data": _array(obj._base_array)}),)
        if hasattr(kind, "__array__") and hasattr(kind, "addressable_shards"):
            return (_array(obj),)
        if isinstance(obj, (FunctionType, BuiltinFunctionType, type)):
            name = importable_name(obj)
            return None if name is None else (Record("function", {"name": name}),)
        return None


def _named(*names: str) -> Callable[[Any], dict[str, Any]]:
    return lambda obj: {name: getattr(obj, name) for name in names if hasattr(obj, name)}


def _aval(aval: Any) -> dict[str, Any]:
    fields = {"dtype": str(aval.dtype), "shape": aval.shape, "weak_type": aval.weak_type}
    sharding = getattr(aval, "sharding", None)
    if sharding is not None and not sharding.mesh.empty:
        fields["sharding"] = sharding
    for name in ("memory_space", "manual_axis_type", "vma"):
        if hasattr(aval, name):
            fields[name] = getattr(aval, name)
    return fields


def _mesh(mesh: Any) -> dict[str, Any]:
    fields = {"axis_names": mesh.axis_names, "axis_types": getattr(mesh, "axis_types", None)}
    if type(mesh).__name__ == "AbstractMesh":
        return {**fields, "axis_sizes": mesh.axis_sizes}
    return {**fields, "shape": mesh.devices.shape, "devices": mesh.devices.ravel().tolist()}


def _tree(tree: Any) -> dict[str, Any]:
    return {"node": tree.node_data(), "children": tree.children(), "leaves": tree.num_leaves}


# The fields of JAX's own classes, which state none, by the names of the classes.
_FIELDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "AbstractMesh": _mesh,
    "AbstractRef": _named("inner_aval", "memory_space", "kind"),
    "AbstractToken": _named(),
    "Device": _named("platform", "device_kind", "id", "process_index"),
    "JaxprEqnContext": _named(
        "compute_type", "threefry_partitionable", "cur_abstract_mesh", "xla_metadata", "configs"
    ),
    "KeyTy": _named("name"),
    "ManualAxisType": _named("varying", "unreduced", "reduced"),
    "Mesh": _mesh,
    "NamedSharding": _named("mesh", "spec", "memory_kind"),
    "P": lambda spec: {"parts": tuple(spec), **_named("unreduced", "reduced")(spec)},
    "PyTreeDef": _tree,
    "ShapedArray": _aval,
    "SingleDeviceSharding": lambda sharding: {
        "devices": list(sharding.device_set),
        "memory_kind": sharding.memory_kind,
    },
    "UnconstrainedSingleton": _named(),
    "UnspecifiedValue": _named(),
}
_FIELDS["PartitionSpec"] = _FIELDS["P"]


def _fields(obj: Any) -> dict[str, Any] | None:
    """The fields of an object of JAX; None for all others."""
    kind = type(obj)
    read = _FIELDS.get(kind.__name__)
    if read is None or kind.__module__.partition(".")[0] not in ("jax", "jaxlib"):
        return None
    return read(obj)


def _nested(given: Any) -> list[Any]:
    """The jaxprs in the parameters of equations, alone or in tuples."""
    jaxpr = given.jaxpr if _is_closed(given) else given
    nested: list[Any] = []
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            several = value if isinstance(value, (tuple, list)) else (value,)
            nested += [each for each in several if _is_jaxpr(each) or _is_closed(each)]
    return nested


def _literal(atom: Any) -> Any:
    """The value of a literal in its own dtype: 1 and 1.0 differ, and so do 0.0 and -0.0."""
    numpy = sys.modules["numpy"]
    return tensor_of(numpy.asarray(atom.val, atom.aval.dtype))


def _array(array: Any) -> Any:
    numpy = sys.modules["numpy"]
    return tensor_of(numpy.asarray(array))
