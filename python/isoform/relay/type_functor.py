"""Functors, visitors and mutators of types.

They correspond to the functors of expressions (`isoform.relay.expr_functor`), with a
method for each class of types.
"""

from __future__ import annotations

from ._functor import Functor, identity, refusal, rewrite_of, silence, visit_of

__all__ = ["TypeFunctor", "TypeMutator", "TypeVisitor"]


class TypeFunctor(Functor, dialect=("ir", "relay")):
    """A function of types, with a method for each class.

    The methods of this class raise NotImplementedError.
    """

    visit_type_var = visit_incomplete_type = visit_tensor_type = visit_func_type = refusal
    visit_tuple_type = visit_type_relation = visit_ref_type = visit_global_type_var = refusal
    visit_type_call = visit_type_data = refusal


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

    visit_type_var = visit_incomplete_type = visit_tensor_type = visit_global_type_var = silence
    visit_func_type = visit_of("arg_types", "ret_type", "type_params", "type_constraints")
    visit_tuple_type = visit_of("fields")
    visit_type_relation = visit_of("args")
    visit_ref_type = visit_of("value")
    visit_type_call = visit_of("func", "args")
    visit_type_data = visit_of("header", "type_vars")


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

    _rewrites = True

    visit_type_var = visit_incomplete_type = visit_tensor_type = visit_global_type_var = identity
    visit_func_type = rewrite_of("arg_types", "ret_type", "type_params", "type_constraints")
    visit_tuple_type = rewrite_of("fields")
    visit_type_relation = rewrite_of("args")
    visit_ref_type = rewrite_of("value")
    visit_type_call = rewrite_of("func", "args")
    visit_type_data = rewrite_of("header", "type_vars")
