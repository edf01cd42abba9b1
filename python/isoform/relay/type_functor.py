"""Functors, visitors and mutators of types.

They correspond to the functors of expressions (`isoform.relay.expr_functor`), with a
method for each class of types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.ir import _api

from ._functor import Functor

if TYPE_CHECKING:
    from collections.abc import Generator

    Steps = Generator[Any, Any, Any]

__all__ = ["TypeFunctor", "TypeMutator", "TypeVisitor"]

_with_fields = _api.function("relay.ir.with_fields")


class TypeFunctor(Functor, dialect=("ir", "relay")):
    """A function of types, with a method for each class.

    The methods of this class raise NotImplementedError.
    """

    def visit_type_var(self, tv: Any) -> Any:
        """The result for a type variable."""
        raise NotImplementedError

    def visit_incomplete_type(self, it: Any) -> Any:
        """The result for an unknown type."""
        raise NotImplementedError

    def visit_tensor_type(self, tt: Any) -> Any:
        """The result for the type of a tensor."""
        raise NotImplementedError

    def visit_func_type(self, ft: Any) -> Any:
        """The result for the type of a function."""
        raise NotImplementedError

    def visit_tuple_type(self, tt: Any) -> Any:
        """The result for the type of a tuple."""
        raise NotImplementedError

    def visit_type_relation(self, tr: Any) -> Any:
        """The result for a relation between types."""
        raise NotImplementedError

    def visit_ref_type(self, rt: Any) -> Any:
        """The result for the type of a reference."""
        raise NotImplementedError

    def visit_global_type_var(self, gtv: Any) -> Any:
        """The result for the name of a data type."""
        raise NotImplementedError

    def visit_type_call(self, tc: Any) -> Any:
        """The result for a data type applied to types."""
        raise NotImplementedError

    def visit_type_data(self, td: Any) -> Any:
        """The result for the definition of a data type."""
        raise NotImplementedError


class TypeVisitor(TypeFunctor):
    """Visits every type below one, each once.

    Of a function: arguments, result, type parameters, constraints; of the definition of a
    data type: name and parameters, but not the constructors.

    >>> from isoform import relay
    >>> class Dtypes(relay.TypeVisitor):
    ...     found = ()
    ...
    ...     def visit_tensor_type(self, tt):
    ...         self.found += (str(tt.dtype),)
    >>> dtypes = Dtypes()
    >>> dtypes.visit(relay.TupleType([relay.scalar_type("int8"), relay.scalar_type("bool")]))
    >>> dtypes.found
    ('int8', 'bool')
    """

    def visit_type_var(self, tv: Any) -> Any:
        """Do nothing."""

    def visit_incomplete_type(self, it: Any) -> Any:
        """Do nothing."""

    def visit_tensor_type(self, tt: Any) -> Any:
        """Do nothing."""

    def visit_func_type(self, ft: Any) -> Any:
        """Visit arguments, result, type parameters and constraints."""
        yield from _each(ft.arg_types)
        yield ft.ret_type
        yield from _each(ft.type_params)
        yield from _each(ft.type_constraints)

    def visit_tuple_type(self, tt: Any) -> Any:
        """Visit the fields."""
        yield from _each(tt.fields)

    def visit_type_relation(self, tr: Any) -> Any:
        """Visit the types."""
        yield from _each(tr.args)

    def visit_ref_type(self, rt: Any) -> Any:
        """Visit the type of the value."""
        yield rt.value

    def visit_global_type_var(self, gtv: Any) -> Any:
        """Do nothing."""

    def visit_type_call(self, tc: Any) -> Any:
        """Visit the data type and its arguments."""
        yield tc.func
        yield from _each(tc.args)

    def visit_type_data(self, td: Any) -> Any:
        """Visit the name and the parameters."""
        yield td.header
        yield from _each(td.type_vars)


def _each(types: Any) -> Steps:
    """Visit types, whose results are sent here."""
    for ty in types:  # noqa: UP028
        yield ty


def _all(types: Any) -> Steps:
    """The results for types."""
    results = []
    for ty in types:
        results.append((yield ty))
    return results


class TypeMutator(TypeFunctor):
    """Rewrites types: the result of a method comes in place of its type.

    By default a type is rebuilt if something below it changes, and is the same object
    otherwise: type variables keep their identity.

    >>> from isoform import relay
    >>> class Halves(relay.TypeMutator):
    ...     def visit_tensor_type(self, tt):
    ...         return relay.TensorType(tt.shape, "float16")
    >>> a = relay.TypeVar("a")
    >>> done = Halves().visit(relay.FuncType([relay.scalar_type("float32"), a], a, [a]))
    >>> str(done.arg_types[0].dtype), done.ret_type is a
    ('float16', True)
    """

    def visit_type_var(self, tv: Any) -> Any:
        """Keep the variable."""
        return tv

    def visit_incomplete_type(self, it: Any) -> Any:
        """Keep the type."""
        return it

    def visit_tensor_type(self, tt: Any) -> Any:
        """Keep the type."""
        return tt

    def visit_func_type(self, ft: Any) -> Any:
        """Rewrite arguments, result, type parameters and constraints."""
        arg_types = yield from _all(ft.arg_types)
        ret_type = yield ft.ret_type
        type_params = yield from _all(ft.type_params)
        type_constraints = yield from _all(ft.type_constraints)
        return _with_fields(
            ft,
            {
                "arg_types": arg_types,
                "ret_type": ret_type,
                "type_params": type_params,
                "type_constraints": type_constraints,
            },
        )

    def visit_tuple_type(self, tt: Any) -> Any:
        """Rewrite the fields."""
        return _with_fields(tt, {"fields": (yield from _all(tt.fields))})

    def visit_type_relation(self, tr: Any) -> Any:
        """Rewrite the types."""
        return _with_fields(tr, {"args": (yield from _all(tr.args))})

    def visit_ref_type(self, rt: Any) -> Any:
        """Rewrite the type of the value."""
        return _with_fields(rt, {"value": (yield rt.value)})

    def visit_global_type_var(self, gtv: Any) -> Any:
        """Keep the name."""
        return gtv

    def visit_type_call(self, tc: Any) -> Any:
        """Rewrite the data type and its arguments."""
        func = yield tc.func
        args = yield from _all(tc.args)
        return _with_fields(tc, {"func": func, "args": args})

    def visit_type_data(self, td: Any) -> Any:
        """Rewrite the name and the parameters; keep the constructors."""
        header = yield td.header
        type_vars = yield from _all(td.type_vars)
        return _with_fields(td, {"header": header, "type_vars": type_vars})
