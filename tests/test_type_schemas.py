"""`TypeSchema`: from annotations, to JSON, and refused annotations."""

import typing
from typing import Literal

import pytest

from isoform import Object
from isoform.core import TypeSchema
from isoform.dataclasses import (
    py_class,
)


def test_schemas_of_literals_are_exact():
    one, true = (TypeSchema.from_annotation(Literal[v]) for v in (1, True))
    assert one != true
    assert repr(true) == "Literal[True]"
    one.check_value(1)
    with pytest.raises(TypeError, match="Literal"):
        one.check_value(True)
    with pytest.raises(TypeError, match="Literal"):
        TypeSchema.from_annotation(Literal[b"x"])


@pytest.mark.parametrize(
    "annotation",
    [
        int,
        None,
        Literal["a", 1],
        dict[str, list[int | None]],
        tuple[int, str],
        tuple[()],
        typing.Callable[[int], str],
        typing.Callable[..., str],
        int | str | None,
        Object,
    ],
)
def test_schemas_survive_json(annotation):
    schema = TypeSchema.from_annotation(annotation)
    again = TypeSchema.from_json_obj(schema.to_json())
    assert again == schema
    assert hash(again) == hash(schema)
    assert repr(again) == repr(schema)


def test_schemas_are_checked():
    for origin, count in (("Optional", 0), ("Union", 1), ("Map", 1), ("Array", 2)):
        with pytest.raises(ValueError, match=origin):
            TypeSchema(origin, (TypeSchema("int"),) * count)
    for text in ("3", "{}", "[]"):
        with pytest.raises(TypeError, match="'type'"):
            TypeSchema.from_json_str(text)
    with pytest.raises(ValueError, match="Expecting"):
        TypeSchema.from_json_str("{")
    assert TypeSchema.from_json_str('{"type": "ffi.Map"}') == TypeSchema.from_annotation(dict) or (
        repr(TypeSchema.from_json_str('{"type": "ffi.Map"}')) == "Map[Any, Any]"
    )


def test_unions_are_flat():
    nested = typing.Union[int, typing.Optional[typing.Union[str, int]]]
    assert repr(TypeSchema.from_annotation(nested)) == "int | str | None"
    assert repr(TypeSchema.from_annotation(typing.Optional[None])) == "None"


def test_strings_need_a_class():
    with pytest.raises(TypeError, match="'int'"):
        TypeSchema.from_annotation("int")


def test_unregistered_classes_are_named(key):
    class Plain(Object):
        pass

    with pytest.raises(TypeError, match=r"Plain.*py_class"):
        TypeSchema.from_annotation(Plain)

    @py_class(key())
    class Node(Object):
        x: int

    assert TypeSchema.from_annotation(Node).is_subtype_of(Object)
    assert not TypeSchema.from_annotation(int).is_subtype_of(Object)


def test_errors_name_all_that_a_union_takes(key):
    @py_class(key())
    class Union(Object):
        a: int | str | None

    with pytest.raises(TypeError, match=r"expected int \| str \| None, got float"):
        Union(1.5)
