# Written by scripts/make_stubs.py; do not edit.
"""The native module. What users need of it, `isoform` gives them."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from pathlib import Path
from typing import Any, Final, Generic, TypeAlias, final, overload

from typing_extensions import Self, TypeVar

from isoform.container import Array, Map
from isoform.types.onnx import Program

_T = TypeVar("_T")
_S = TypeVar("_S")
_K = TypeVar("_K")
_V = TypeVar("_V")
_N = TypeVar("_N")
_R = TypeVar("_R", default=Any)
_Callbacks: TypeAlias = Callable[[Any], Any] | Sequence[tuple[Any, Callable[[Any], Any]]] | None
_CallbacksOfTwo: TypeAlias = (
    Callable[..., Any] | tuple[Any, Callable[..., Any]] | Sequence[tuple[Any, Callable[..., Any]]]
)

KWARGS: Final[Any]

MISSING: Final[Any]

__version__: Final[str]

class_lock: Final[Any]

@final
class AccessPath:
    """A place inside a value, as steps from its root.

    Paths are compared and hashed by their steps; object keys count by identity. Start
    with `AccessPath.root()`.
    """

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def array_item(self, /, index: Any) -> Any:
        """The path to the element at this position."""
    def array_item_missing(self, /, index: Any) -> Any:
        """The path to an element that does not exist."""
    def attr(self, /, name: str) -> Any:
        """The path to the field of this name. O(depth)."""
    def attr_missing(self, /, name: str) -> Any:
        """The path to a field that does not exist."""
    @property
    def depth(self) -> Any:
        """The number of steps."""
    def extend(self, /, step: Any) -> Any:
        """The path extended by one step."""
    def get(self, /, root: Any) -> Any:
        """The value at this place below a root.

        Raises AttributeError, IndexError or KeyError for a step that does not exist,
        TypeError for one that the value does not support; the message names the step.
        """
    def is_prefix_of(self, /, other: Any) -> Any:
        """True if the other path is at or below this place."""
    def map_item(self, /, key: Any) -> Any:
        """The path to the value under this key."""
    def map_item_missing(self, /, key: Any) -> Any:
        """The path to a key that does not exist."""
    @property
    def parent(self) -> Any:
        """The path without its last step; None for the root. O(1)."""
    @staticmethod
    def parse(text: str) -> Any:
        """Parses the text of a path.

        Raises ValueError for text that is not a path, and for an object as a key, which
        cannot be read from text. O(length).
        """
    @staticmethod
    def root() -> Any:
        """The path of the root itself."""
    @property
    def step(self) -> Any:
        """The last step; None for the root."""
    def to_steps(self, /) -> Any:
        """The steps, outermost first, as a tuple."""

@final
class AccessStep:
    """One step of an access path."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    @property
    def key(self) -> Any:
        """The name of the field, the position or the key."""
    @property
    def kind(self) -> Any:
        """The kind of the step, an `AccessKind`."""

@final
class CachedCalls:
    """The calls of a function whose results are kept; see `isoform.store.cached`."""

    def __new__(
        cls,
        store: Store,
        name: str,
        version: str,
        function: Any,
        parameters: list[Any],
        bind: Any,
        options: dict[str, Any],
    ) -> CachedCalls: ...
    def begin(self, /, args: Any, kwargs: Any) -> PendingCall | tuple[Any]:
        """Begins a call of a coroutine function: the kept result as a tuple of one, or the call
        that is to be made.
        """
    def call(self, /, args: Any, kwargs: Any) -> Any:
        """Returns the kept result of a call, or calls the function and keeps the result."""
    def info(self, /) -> tuple[int, int, int]:
        """The numbers of hits and misses of this process, and of errors of the store."""
    def key(self, /, args: Any, kwargs: Any) -> str:
        """The digest of the key of a call."""
    def remove(self, /, args: Any, kwargs: Any) -> bool:
        """Removes the result of a call. Returns False if there is none."""

@final
class Change:
    """A change between two values, with every place where the same change occurs."""

    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def count(self) -> Any:
        """The number of occurrences, counting a shared part at each of its places and a dag
        node once, at most 2**64 - 1.
        """
    @property
    def kind(self) -> Any:
        """The kind: `value`, `inserted`, `deleted`, `moved`, `wrapped`, `unwrapped`, `replaced`,
        `variable`, `sharing`, `key renamed`, `tensor`, `attribute` or `rewired`.
        """
    @property
    def left(self) -> Any:
        """The value on the left; None if the left side has no value."""
    @property
    def left_path(self) -> Any:
        """The first place on the left; of what is only on the right, that of what it was put into."""
    @property
    def left_size(self) -> Any:
        """The number of nodes that the change takes away on the left."""
    @property
    def paths(self) -> Any:
        """The places on both sides, each distinct pair of objects once."""
    @property
    def right(self) -> Any:
        """The value on the right; None if the right side has no value."""
    @property
    def right_path(self) -> Any:
        """The first place on the right; of what is only on the left, that of what it was taken
        from.
        """
    @property
    def right_size(self) -> Any:
        """The number of nodes that the change brings on the right."""
    @property
    def tensor(self) -> Any:
        """How the elements of two tensors of one type and shape differ, by name: the number of
        elements that are `differing` of all `elements`, the largest absolute difference
        `max_abs`, the length of the difference relative to the left tensor `relative_l2`, the
        `cosine`, and the position of the `first` one that differs. None for everything else.
        """

@final
class ChangeRecord:
    """A change that was read from JSON."""

    def __str__(self, /) -> str: ...
    @property
    def count(self) -> Any:
        """As `Change.count`, at most 2**63 - 1."""
    @property
    def kind(self) -> Any:
        """As `Change.kind`."""
    @property
    def left(self) -> Any:
        """The value on the left as text; None if the left side has no value."""
    @property
    def left_path(self) -> Any:
        """As `Change.left_path`."""
    @property
    def left_size(self) -> Any:
        """As `Change.left_size`."""
    @property
    def right(self) -> Any:
        """The value on the right as text; None if the right side has no value."""
    @property
    def right_path(self) -> Any:
        """As `Change.right_path`."""
    @property
    def right_size(self) -> Any:
        """As `Change.right_size`."""

@final
class Column:
    """An attribute whose name has been looked up."""

    def __new__(cls, name: Any) -> Column: ...
    def __bool__(self, /) -> bool: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self, /) -> Iterator[Any]: ...
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def get(self, /, of: Any, default: Any = ..., *, inherit: bool = ...) -> Any:
        """The value for a type or for the type of a node; `default` if there is none.
        O(1).

        With `inherit`, a type without a value uses that of its nearest ancestor.
        """
    def items(self, /) -> list[tuple[type[Any], Any]]:
        """The types that have a value, with it, in the order of registration."""
    def keys(self, /) -> list[type[Any]]:
        """The types that have a value, in the order of their registration."""
    @property
    def name(self) -> str:
        """The name of the attribute."""
    def set(self, /, of: Any, value: Any, override: bool = ...) -> None:
        """Sets the value for a type. An existing value is replaced only with `override`.

        Raises ValueError if a value is already set, TypeError for one that the
        attribute's declaration does not allow.
        """
    def values(self, /) -> list[Any]:
        """The values, in the order in which their types were registered."""

@final
class Conflict:
    """A place that both sides of a merge changed in different ways."""

    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def base(self) -> Any:
        """The part of the base. Unless the conflict is single, a list: of the elements in a stretch
        of a list, or of the value under a key, which is empty if there is none.
        """
    @property
    def is_single(self) -> Any:
        """True if the place holds exactly one part in all three values."""
    @property
    def left(self) -> Any:
        """The part that the left side has instead, or a list of parts, as for `base`; an empty one
        if the left side deleted it.
        """
    @property
    def left_change(self) -> Any:
        """The change of the left side: from the parts of the base to those of the left."""
    @property
    def path(self) -> Any:
        """The place in the base. For parts that both sides insert into a list, the position of the
        element that they are inserted before.
        """
    @property
    def reason(self) -> Any:
        """Why both sides as a whole are in conflict, although no two of their edits are at one
        place; None for all other conflicts.
        """
    @property
    def right(self) -> Any:
        """The part that the right side has instead, or a list of parts, as for `left`."""
    @property
    def right_change(self) -> Any:
        """The change of the right side: from the parts of the base to those of the right."""

@final
class CorpusBlock:
    """A block of nodes that occurs several times in a program, such as a layer."""

    def __repr__(self, /) -> str: ...
    @property
    def count(self) -> int:
        """How often the block occurs."""
    @property
    def digest(self) -> str:
        """The digest of the block, which the same block of another program has, too."""
    @property
    def nodes(self) -> int:
        """The number of nodes."""

@final
class CorpusGroup:
    """Rows of an index with the same digest."""

    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    @property
    def digest(self) -> str:
        """The digest."""
    @property
    def rows(self) -> list[CorpusRow]:
        """The rows with path, size, kind and digests, at least two."""

@final
class CorpusIndex:
    """The index of a collection: a Parquet file, or a folder of Parquet files.

    Args:
        path: the file or folder, as `isoform index` or `isoform.corpus.index` wrote it.

    Raises:
        OSError: if the file is missing or damaged.
        ValueError: if the file is not an index, or has a newer version.
    """

    def __new__(cls, path: str | PathLike[str]) -> CorpusIndex: ...
    def __iter__(self, /) -> Iterator[CorpusRow]: ...
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def duplicates(self, /, by: str = ...) -> list[CorpusGroup]:
        """Return the groups of rows with the same program, largest first. O(n log n) for n rows.

        Args:
            by: `"digest"` for equal programs, `"architecture"` for programs that differ in the
                elements of tensors at most.

        Raises:
            ValueError: for another column.
            OSError: if the index is damaged.
        """
    def find(self, /, digits: str) -> list[CorpusRow]:
        """Return the rows whose digest, digest of the architecture, or digest of a block begins
        with these digits. O(n) for n rows.

        Args:
            digits: the first 8 to 64 hexadecimal digits of a digest.

        Raises:
            ValueError: for another text.
            OSError: if the index is damaged.
        """
    @property
    def path(self) -> str:
        """The path of the file or folder."""
    @property
    def roots(self) -> list[str]:
        """The roots of the collection; empty for an index of several files."""
    def shared_blocks(self, /) -> list[SharedBlock]:
        """Return the blocks that occur in several files, the largest savings first.

        Raises:
            OSError: if the index is damaged.
        """
    def statistics(self, /) -> CorpusStatistics:
        """Return the numbers of the index: files, programs, operators, operator sets.

        Raises:
            OSError: if the index is damaged.
        """

@final
class CorpusReport:
    """The numbers of an update of an index."""

    def __repr__(self, /) -> str: ...
    @property
    def bytes(self) -> int:
        """The number of bytes of the files that were read."""
    @property
    def failed(self) -> int:
        """How many rows have an error."""
    @property
    def kept(self) -> int:
        """How many rows were kept, because their files had not changed."""
    @property
    def read(self) -> int:
        """How many files were read."""
    @property
    def rows(self) -> int:
        """The number of rows."""

@final
class CorpusRow:
    """A row of an index: one file of a collection.

    A file that could not be read has an `error`; its other attributes are empty.
    """

    def __repr__(self, /) -> str: ...
    @property
    def architecture(self) -> str | None:
        """The digest of the program without the elements of its tensors."""
    @property
    def blocks(self) -> list[CorpusBlock]:
        """The blocks that occur at least twice in the program."""
    @property
    def digest(self) -> str | None:
        """The digest of the program in hexadecimal digits."""
    @property
    def elements(self) -> dict[str, int]:
        """The number of elements of weights by element type."""
    @property
    def error(self) -> str | None:
        """The reason why the file could not be read."""
    @property
    def files(self) -> list[str]:
        """The names of further files that belong to the file: external data, shards."""
    @property
    def inputs(self) -> list[str]:
        """The inputs, like `x: float32[batch, 3]`."""
    @property
    def kind(self) -> str | None:
        """The format: `onnx`, `safetensors`, `gguf`, `json`, ..."""
    @property
    def nodes(self) -> int | None:
        """The number of nodes of a model, or of objects of an IR."""
    @property
    def operators(self) -> dict[str, int]:
        """How often each operator, or type of objects, occurs."""
    @property
    def opsets(self) -> dict[str, int]:
        """The newest version of each operator set."""
    @property
    def outputs(self) -> list[str]:
        """The outputs, in the same form."""
    @property
    def parameters(self) -> int | None:
        """The number of elements of all weights."""
    @property
    def path(self) -> str:
        """The path, which begins with the root; an archive counts as a folder."""
    @property
    def size(self) -> int:
        """The size of the file in bytes."""
    @property
    def stamp(self) -> int:
        """A number that changes with the file; 0 if the next update reads the file again."""

@final
class CorpusRows:
    """An iterator over the rows of an index."""

    def __iter__(self, /) -> Iterator[Any]: ...
    def __next__(self, /) -> CorpusRow: ...

@final
class CorpusStatistics:
    """An index in numbers."""

    def __repr__(self, /) -> str: ...
    @property
    def architectures(self) -> int:
        """The number of different programs without the elements of tensors."""
    @property
    def bytes(self) -> int:
        """The size of all files in bytes."""
    @property
    def elements(self) -> dict[str, int]:
        """The number of elements of all weights by element type."""
    @property
    def failed(self) -> int:
        """The number of files that could not be read."""
    @property
    def files(self) -> int:
        """The number of rows."""
    @property
    def kinds(self) -> dict[str, tuple[int, int]]:
        """The number of files and their bytes by kind."""
    @property
    def operators(self) -> dict[str, tuple[int, int]]:
        """The number of files with an operator, and how often the operator occurs."""
    @property
    def opsets(self) -> dict[tuple[str, int], int]:
        """The number of files by operator set and version."""
    @property
    def programs(self) -> int:
        """The number of different programs."""

@final
class CorpusUpdate:
    """An update whose files are read elsewhere."""

    def __new__(cls, roots: list[str], index: str | PathLike[str]) -> CorpusUpdate: ...
    def close(self, /) -> Any:
        """End the update; the next update goes on with its rows."""
    def finish(self, /) -> Any:
        """Write the index."""
    def next_files(self, /, count: Any, size: Any) -> Any:
        """Return the next batch of files to read, at most `count` files and not many more than
        `size` bytes. None at the end of the collection; empty if many files in a row had not
        changed, and more files may follow.
        """
    def push(self, /, rows: Any) -> Any:
        """Add the rows of the oldest batch whose rows have not been added."""
    def report(self, /) -> Any:
        """Return the numbers of the update so far."""

@final
class Definition:
    """The statement or expression that binds a variable to a value."""

    @property
    def binding(self) -> Any:
        """The object that binds the variable."""
    @property
    def index(self) -> Any:
        """The position of the variable if the value has several results, otherwise None."""
    @property
    def value(self) -> Any:
        """The value."""

@final
class Difference(Generic[_R]):
    """All differences of two values, by `isoform.diff.diff`.

    As a str, the summary and one line for each change, up to a hundred. Empty, and false, if
    and only if the values are structurally equal.
    """

    def __bool__(self, /) -> bool: ...
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str | None:
        """The difference in a notebook."""
    def apply(self, value: _R) -> _R:
        """Builds the right value out of the left one, or one that is equal to it. What did not
        change is shared with `value`, lists and dicts included.

        Raises ValueError for a value that is not equal to the left one, and if one of the two
        values has changed since the difference was made. O(n) for n parts of the value, plus
        the size of the patch.
        """
    @property
    def changes(self) -> Any:
        """The changes, in the order in which comparison visits the right value, moves last. Equal
        changes are one.
        """
    @property
    def counts(self) -> Any:
        """The number of changes by kind, each occurrence counted."""
    @staticmethod
    def from_json(text: str) -> Any:
        """The difference in a JSON text: it can be applied and inverted without the two values.

        Raises ValueError for text that is not a difference, or one of another version, and
        TypeError for a type that is not registered.
        """
    def invert(self, /) -> Any:
        """The way back, from the right value to the left one, as they were when the difference
        was made.
        """
    @property
    def left(self) -> Any:
        """The value that the difference starts from."""
    @property
    def patch(self) -> Any:
        """How to build the right value, to be written as JSON and applied elsewhere.

        It is for the values as they were when the difference was made, even if they have
        changed since.

        Raises ValueError for a variable that is free on the right and not on the left, and for
        the difference of equal values of which one has changed since; TypeError for values that
        cannot be written.
        """
    def picture(self, /, format: str = ..., *, title: str | None = ...) -> str:
        """The changes as a picture, in the format `"svg"`, `"dot"` or `"mermaid"`."""
    @property
    def right(self) -> Any:
        """The value that it leads to."""
    def save_html(
        self,
        /,
        path: str | PathLike[str],
        *,
        names: str | tuple[str, str] | None = ...,
        force: bool = ...,
    ) -> None:
        """Writes the page of `to_html` to a file, completely or not at all.

        Raises FileExistsError for a file that exists, unless `force` is true, and OSError for
        one that cannot be written.
        """
    def summary(self, /) -> Any:
        """One line: how many changes of each kind; `equal` if nothing differs."""
    def to_html(self, /, *, names: str | tuple[str, str] | None = ...) -> str:
        """The difference as a page for a browser, one file of HTML; see docs/pages.md.

        `names` has the names of both sides, by default `left` and `right`.
        """
    def to_json(self, /) -> Any:
        """The changes and the patches for the way there and back as JSON; see docs/diff.md.

        Raises as `patch`.
        """
    def to_markdown(
        self, /, *, names: str | tuple[str, str] | None = ..., page_url: str | None = ...
    ) -> str:
        """A summary as Markdown, for a pull request: always below 60,000 characters. `page_url`
        is the address of the whole page.
        """

@final
class DifferenceRecord:
    """A difference that was read from JSON."""

    def __len__(self, /) -> int: ...
    def apply(self, /, value: Any) -> Any:
        """Builds the right value out of the left one. Raises ValueError for another value."""
    @property
    def changes(self) -> Any:
        """The changes; values are short texts."""
    @staticmethod
    def from_json(text: str) -> Any:
        """The difference in a JSON text. Raises ValueError for text that is not a difference."""
    def invert(self, /) -> Any:
        """The way back."""
    def to_json(self, /) -> Any:
        """The difference as JSON text."""

@final
class Duplicate:
    """A group of structurally equal subterms, found by `duplicates`."""

    def __repr__(self, /) -> str: ...
    @property
    def members(self) -> list[tuple[int, Any]]:
        """The objects, each with the number of the first value that contains it."""
    @property
    def saved(self) -> int:
        """The nodes that would go if one object took the place of all members. Parts that they
        share already, or that also occur elsewhere, do not count.
        """
    @property
    def size(self) -> int:
        """The number of nodes in each of them, each occurrence counted, at most 2**64 - 1."""

@final
class Entry:
    """A result that a store has under a key."""

    def __repr__(self, /) -> str: ...
    @property
    def created(self) -> int:
        """The time of the put, in seconds since 1970, by the clock of the writer."""
    @property
    def is_failure(self) -> bool:
        """True if the value describes a failure."""
    @property
    def key(self) -> dict[str, str]:
        """The parts of the key, by their names."""
    @property
    def metadata(self) -> dict[str, str]:
        """Texts that the writer added."""
    @property
    def program(self) -> str | None:
        """The name under which the store has the program of the key; None without a program."""
    @property
    def value(self) -> bytes:
        """The result."""

@final
class EntryKey:
    """A key of an entry: everything on which a result depends, by name.

    Two keys with the same parts are equal. The digest of a program is the same for programs
    that are equal up to the names of variables.

    Args:
        job: the name of the computation, such as "compile".
        program: a node, a value or an ONNX model; or a digest, as 32 bytes or 64 hexadecimal
            digits. The store keeps a program that is not given as a digest next to the entry.
        version: the version of the code that does the job.
        options: the other influences: text, numbers, bool or None. An option counts by its text,
            as in Rust, so 2 and "2" are the same option.

    Raises:
        TypeError: a program or an option of another kind.
        ValueError: a digest of another length, or a program that has no digest.
    """

    def __new__(
        cls,
        job: str,
        /,
        *,
        program: Any = ...,
        version: Any = ...,
        **options: str | float | bool | None,
    ) -> EntryKey: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    @property
    def digest(self) -> str:
        """The digest of the parts, as 64 hexadecimal digits."""
    @property
    def parts(self) -> dict[str, str]:
        """The parts by name: "job", "program", "version", and "option." with the name of an
        option.
        """

@final
class Hole:
    """A variable of a template that matches any part of a value.

    `cls` requires objects of a class or one that extends it. `guard` is called with the
    part and returns whether the hole matches it; its result must be the same for equal
    parts. `fields` maps paths below the part, such as `"checked_type_.dtype"`, to values or
    patterns that must be there, and `attrs` the names of attributes of its class, or of the
    operator if it is one, to their values; no Python runs for these. A value of a field has
    any form that the field takes, such as `"float32"` for a data type, and a number, string
    or bool also stands for a literal of the IR.

    `items=True` lets the hole, an item of an array, match any number of items, as few as
    possible for the first of several; its part is their array. `anything=True` matches any
    value, `constant=True` only constants: objects of classes with the attribute
    `rewrite.constant`, tensors, numbers, strings and bytes. `one_use=True` requires that only the
    match uses the part, which `rewrite_greedily`, `find_all` and `match(value, uses)` know.
    `matching` is a pattern that the part matches; its holes are part of the match.

    Raises TypeError for arguments of other types. A path that no registered class allows,
    starting from `cls` if given, and a value that no field takes, are errors of the pattern
    that gets the hole.
    """

    def __new__(
        _cls,
        var: Any,
        cls: type[Any] | None = ...,
        guard: Callable[[Any], bool] | None = ...,
        *,
        items: bool = ...,
        anything: bool = ...,
        constant: bool = ...,
        one_use: bool = ...,
        matching: Pattern[Any] | None = ...,
        fields: Mapping[str, Any] | None = ...,
        attrs: Mapping[str, Any] | None = ...,
    ) -> Hole: ...
    @property
    def var(self) -> Any:
        """The variable."""

@final
class IncrementalHasher:
    """Hashes a program again and again while it is edited, each time at the cost of the edit.

    It remembers the hashes of parts; a part that it meets again as the same object is not
    visited. The results are those of `structural_hash` and `structural_digest`.

    Parts count in which no variable from around them is met first: closed expressions,
    functions, also those of a module that call each other by name, and parts whose variables
    were met before and are numbered as in the earlier call. A write to any object that can change
    makes it forget the parts that can change; edits that make new objects, as `replace` and
    all rewrites do, forget nothing.

    Args:
        map_free_vars: whether free variables are hashed up to renaming.
        skip_tensor_content: whether tensors are hashed by type and shape only.

    It remembers at most 262,144 parts for hashes and as many for digests, of some 70 and 100
    bytes, and forgets all of them if there are more. It keeps no object alive.
    """

    def __new__(
        cls, map_free_vars: bool = ..., skip_tensor_content: bool = ...
    ) -> IncrementalHasher: ...
    def __reduce__(self, /) -> tuple[Any, ...]: ...
    def clear(self) -> None:
        """Forgets everything, and frees the memory. Raises RuntimeError while another call on this
        object is running.
        """
    def digest(self, value: Any) -> bytes:
        """The structural digest of a value, 32 bytes. Raises what `structural_digest` raises, and
        RuntimeError while another call on this object is running.
        """
    def hash(self, value: Any) -> int:
        """The structural hash of a value. Raises what `structural_hash` raises, and RuntimeError
        while another call on this object is running.
        """

@final
class InitFunction:
    """The generated constructor of a class as a function of the instance."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...
    def __repr__(self, /) -> str: ...

@final
class MapIterator:
    """An iterator over the keys, values or items of a map or a dict."""

    def __iter__(self, /) -> Iterator[Any]: ...
    def __next__(self, /) -> Any: ...

@final
class Match(Generic[_R]):
    """The assignment of a template's variables in one value.

    `match[var]` is the part that a hole matches, or the partner of another variable.
    """

    def __contains__(self, key: Any, /) -> bool: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __repr__(self, /) -> str: ...
    def get(self, var: Any, default: Any = ...) -> Any:
        """The part or partner of a variable, or a default."""
    @property
    def holes(self) -> list[tuple[Any, Any]]:
        """The holes and the matching parts, as pairs."""
    def instantiate(self, template: _S) -> _S | None:
        """Replaces the holes and variables of a template by their parts and partners; None
        if a variable would leave the scope that binds it, or be captured by another
        binder.

        Variables that `template` binds but the pattern does not are new ones.
        """
    @property
    def path(self) -> AccessPath | None:
        """The path below the searched root; None for a match that was not searched for.

        O(depth) each time.
        """
    @property
    def value(self) -> _R:
        """The value that matches."""
    @property
    def vars(self) -> list[tuple[Any, Any]]:
        """The other variables of the template and their partners, as pairs."""

@final
class Merge(Generic[_R]):
    """The changes of two values since a third one, together, by `isoform.diff.merge`.

    As a str, the number of conflicts, the changes of each side in short, and the conflicts, up
    to a hundred.
    """

    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def base(self) -> Any:
        """The value that both sides were made from."""
    @property
    def conflicts(self) -> Any:
        """The places that both sides changed in different ways, in a fixed order."""
    @property
    def is_clean(self) -> Any:
        """True if there are no conflicts."""
    @property
    def left(self) -> Any:
        """The difference from the base to the left value."""
    @property
    def merged(self) -> _R:
        """The merged value. At conflicts, it has the parts of the base."""
    def resolve(self, choice: Any) -> _R:
        """The merged value with other parts at conflicts: those of one side for all of them if
        `choice` is "left", "right" or "base". A function is called with each conflict, once,
        and returns the part for its place; where the conflict is not single, a list of parts.

        Raises ValueError for another choice, TypeError for a part that does not fit its
        place, and whatever the function raises. O(n) for n parts of the base.
        """
    @property
    def right(self) -> Any:
        """The difference from the base to the right value."""

@final
class NodeDriver:
    """The engine of one visit."""

    def __new__(
        cls, visitor: Any, rule: str, generators: type[Any], later: type[Any], memo: str
    ) -> NodeDriver: ...
    def below(self, /, value: Any) -> Any:
        """The result for a value by way of its children, whatever method it has."""
    def finish(self, /, value: Any, generator: Any) -> Any:
        """The result of a method of the open node that is a generator."""
    def image(self, /, node: Any) -> Any:
        """The result of a node that was visited before; None for other nodes."""
    @property
    def open(self) -> Any:
        """The node whose method runs, or None."""
    def remap(self, /, var: Any, value: Any) -> Any:
        """Records what comes in place of a variable wherever it is met from now
        on.
        """
    def remap_uses(self, /, var: Any, value: Any) -> Any:
        """Records what comes in place of the uses of a variable that are met from
        now on, whatever method it has.
        """
    def start(self, /, value: Any) -> Any:
        """The result for the value that the whole visit is about.

        An exception of a method gets a note with the method and the place. A RecursionError
        names the place, and has it as its `path`.
        """
    def visit(self, /, value: Any) -> Any:
        """The result for a value that a method asks for while it runs."""

class Object(metaclass=ObjectMeta):
    """The base of all classes of nodes, and of the containers.

    Instances stand for objects of the core: `==` and `hash` are identity unless
    the class asks otherwise, and one object has one instance while it is in use.
    """

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any = ...) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __reduce__(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _id(self, *args: Any, **kwargs: Any) -> Any: ...
    def _repr_html_(self, *args: Any, **kwargs: Any) -> str | None: ...
    def _repr_pretty_(self, *args: Any, **kwargs: Any) -> Any: ...
    def is_(self, *args: Any, **kwargs: Any) -> Any: ...
    def same_as(self, other: Any, /) -> bool: ...

class ObjectMeta(ABCMeta):
    """The metaclass of Object.

    It gives every class empty `__slots__` unless the class has its own, and
    makes calls of registered classes fast.
    """

@final
class OnnxModel:
    """A loaded ONNX model; see `isoform.onnx.load`."""

    def __repr__(self, /) -> str: ...
    def _repr_html_(self, /) -> str | None:
        """The model in a notebook, without the contents of weights."""
    @property
    def constant_bytes(self) -> int:
        """The number of bytes of all constants."""
    @property
    def dropped_node_count(self) -> int:
        """The number of nodes that no output needs; they are not part of the program."""
    @property
    def function_count(self) -> int:
        """The number of local functions that the program calls."""
    @property
    def initializer_count(self) -> int:
        """The number of initializers of the main graph and of all bodies."""
    @property
    def node_count(self) -> int:
        """The number of nodes in the file, including those of bodies and functions."""
    @property
    def path(self) -> Path | None:
        """The file from which the model was loaded."""
    def picture(self, /, format: str = ..., *, title: str | None = ...) -> str:
        """The nodes as a picture, in the format `"svg"`, `"dot"` or `"mermaid"`. Copies of a
        repeated block are drawn once.
        """
    @property
    def program(self) -> Program:
        """The computation of the model, as an object of `onnx.Program`."""
    def save_html(
        self,
        /,
        path: str | PathLike[str],
        *,
        names: str | tuple[str, str] | None = ...,
        force: bool = ...,
    ) -> None:
        """Writes the page of `to_html` to a file, completely or not at all.

        Raises FileExistsError for a file that exists, unless `force` is true, and OSError for
        one that cannot be written.
        """
    def to_html(self, /, *, names: str | tuple[str, str] | None = ...) -> str:
        """The model as a page for a browser, one file of HTML: its operators, weights with
        statistics, and nodes.

        `names` is the name of the model, by default that of its file. Linear in the nodes and
        in the elements of weights, of which the first ones are read.
        """
    def to_markdown(
        self, /, *, names: str | tuple[str, str] | None = ..., page_url: str | None = ...
    ) -> str:
        """The page as Markdown, for a comment: always below 60,000 characters. `page_url` is the
        address of the whole page.
        """

@final
class OnnxOptimization:
    """The results of `isoform.onnx.optimize` and of `isoform.onnx.verify`."""

    def verified(self, /, verification: OnnxVerification) -> OnnxOptimization:
        """The same with a verification."""

@final
class OnnxReport:
    """The comparison of two models, and their names."""

@final
class OnnxRule:
    """A rewrite rule written in Python: a name, a pattern as text, and a function.

    The pattern is matched against each call whose inputs are simplified already.
    `rewrite(site)` returns what takes the place of the outputs of the call: a value, a list
    with one value for each output, or None to leave the call as it is.

    `versions` is a pair of the first and the last version of `ai.onnx` to which the rule
    applies; None instead of the last means any later one.

    Raises ValueError for an empty name, and for a pattern that cannot be read.
    """

    def __repr__(self, /) -> str: ...
    @property
    def name(self) -> Any:
        """The name."""
    @property
    def pattern(self) -> Any:
        """The pattern."""

@final
class OnnxShapes:
    """The types of a program's values; see `isoform.onnx.infer_shapes`."""

    @property
    def problems(self) -> list[tuple[str, tuple[Any, Any, Any], tuple[Any, Any, Any], str]]:
        """The name, declared and derived type of each output whose declared type is wrong, and
        that as a sentence.
        """
    def type_of(self, /, value: Any) -> tuple[Any, Any, Any]:
        """Element type, extents and elements of a value."""

@final
class OnnxSite:
    """A place where a rule may apply: what its pattern matched, what is known about values, and
    how to make new calls.

    `site["x"]` is the value that the name `x` of the pattern stands for, and None for an
    omitted input. A site can be used only while the function of the rule runs, and raises
    RuntimeError afterwards.
    """

    def __getitem__(self, key: Any, /) -> Any: ...
    def constant(self, /, tensor: Any) -> Any:
        """A constant, from an `isoform.Tensor` or an array."""
    def elem_type(self, /, value: Any) -> Any:
        """The name of a value's element type, such as `"float"` or `"int64"`; None if it is not
        known.
        """
    def floats(self, /, value: Any) -> Any:
        """The elements of a constant of floats of 32 or 64 bits; otherwise None."""
    def has_one_use(self, /, value: Any) -> Any:
        """True if nothing else uses the value."""
    def ints(self, /, value: Any) -> Any:
        """The elements of a small tensor of integers or bools, if all are known in every run;
        otherwise None.
        """
    def make(self, op: Any, inputs: Any, /, *, outputs: Any = ..., **attrs: Any) -> Any:
        """Makes a call of an operator, simplified, and returns its result; a list of all results
        if `outputs` is not 1.

        `op` may have a domain, as in `com.microsoft::Gelu`. Attributes are given by name.
        """
    def replace(self, op: Any, inputs: Any, /, *, outputs: Any = ..., **attrs: Any) -> Any:
        """As `make`, for the call that takes the place of the root, whose name it gets."""
    @property
    def root(self) -> Any:
        """The call that the pattern matched."""
    def shape(self, /, value: Any) -> Any:
        """The sizes of a value's axes: an int if the size is known, otherwise its text, which
        is the same for equal sizes. None if not even their number is known.
        """
    @property
    def version(self) -> Any:
        """The version of `ai.onnx` of that call."""

@final
class OnnxVerification:
    """The result of `isoform.onnx.verify`."""

@final
class Patch:
    """How to build one value out of another, read from JSON."""

    def apply(self, /, value: Any) -> Any:
        """Builds the right value out of the left one.

        Raises ValueError for a value that the patch was not made for, or that shares its parts
        in another way.
        """
    @staticmethod
    def from_json(text: str) -> Any:
        """The patch in a JSON text. Raises ValueError for text that is not a patch."""
    def to_json(self, /) -> Any:
        """The patch as JSON text."""

@final
class Pattern(Generic[_R]):
    """A template with holes.

    `template` is any value. `holes` are variables in it that match any part: one of
    them, several, `Hole`s, or a dict from variables to requirements on the part (None,
    a class, or a function that returns whether it fits). With `enable_auto_mapping`,
    the other free variables map to those of the value one to one, otherwise each to
    itself; bound ones always map.

    With `commutative`, operands match in any order where the class of the template's node has
    the attribute `rewrite.commutative`. With `identity`, what occurs several times in the template
    matches one and the same object, not equal ones. With `definitions`, a node of the template
    also matches a variable that is bound to a value which matches it and has no effect.
    `interior_uses` says which users the nodes between the root of a match and the parts of its
    holes may have: `"inside"` only the match, `"anywhere"` any, `"auto"` only the match for
    nodes of kind dag, for definitions that were looked through, and for what leads to them.
    Users and definitions are known to `rewrite_greedily`, `find_all` and `match(value, uses)`.

    `p | q` matches what `p` or else `q` matches.

    Raises TypeError if a hole is not a variable; ValueError if a hole is given twice,
    does not occur in the template, or occurs in a definition field or in the key of a
    map. ValueError also for an option or a hole without any effect: neither the classes of
    the template nor others of their dialects declare the attribute on which it relies, or no
    class has the field.
    """

    def __new__(
        cls,
        template: _R,
        holes: Any = ...,
        enable_auto_mapping: bool = ...,
        *,
        commutative: bool = ...,
        identity: bool = ...,
        definitions: bool = ...,
        interior_uses: str = ...,
    ) -> Pattern[_R]: ...
    def __repr__(self, /) -> str: ...
    @staticmethod
    def any_of(*patterns: Pattern[_S]) -> Pattern[_S]:
        """A pattern that matches what one of several patterns matches; the first that does decides.

        A hole that occurs in several of them is one hole. Raises ValueError without patterns.
        """
    @property
    def enable_auto_mapping(self) -> bool:
        """True if free variables map."""
    def explain(self, value: Any) -> StructuralMismatch | None:
        """The reason why a value does not match, with the template on the left; None if it
        matches.
        """
    def find_all(self, root: Any) -> list[Match[_R]]:
        """Every match below `root`, the root included, each with its `path`;
        outermost first, shared objects once.

        Keys of maps, and the variables that definition fields bind, are not searched.
        Costs as much as a walk, plus one match for each object of the template's type;
        a path is made on demand.
        """
    @property
    def holes(self) -> Any:
        """The variables that are holes."""
    def match(self, value: Any, uses: Uses[Any] | None = ...) -> Match[_R] | None:
        """Matches the whole value; None if it does not match the template.

        Raises exceptions of the comparison and of guards. O(template), except for holes
        that occur several times, whose parts are compared.

        With `uses`, an `isoform.uses.Uses` of the program that contains the value, definitions
        and users of its parts count as well.
        """
    def optional(self, wrap: Callable[[Any], Any]) -> Pattern[Any]:
        """The pattern, or what a function makes of its template, with the same holes: for a part
        that may be there or not.
        """
    @property
    def template(self) -> _R:
        """The template."""

@final
class PendingCall:
    """A call of a coroutine function that has no result yet."""

    def fail(self, /, error: Any) -> Any:
        """Ends the call without a result, and remembers an exception of the declared classes."""
    def keep(self, /, result: Any) -> Any:
        """Keeps the result of the call."""
    def poll(self, /, task: Any) -> bool | tuple[Any]:
        """The result of another caller as a tuple of one; True if this call computes, and False
        while another caller computes. `task` is the identity of the task that asks, if there is
        one: a task that asks for its own result raises RecursionError.
        """

@final
class Property:
    """A field as an attribute of its class.

    `Class.field` is the descriptor itself; `Class.field.set(node, value)` writes the
    field even if the class or the field is frozen.
    """

    def __delete__(self, instance: Any, /) -> None: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...
    def __repr__(self, /) -> str: ...
    def __set__(self, instance: Any, value: Any, /) -> None: ...
    @property
    def fget(self) -> Any:
        """The function that reads the field of a node, as of a `property`."""
    @property
    def frozen(self) -> bool:
        """True if assignment is rejected."""
    @property
    def fset(self) -> Any:
        """The function that writes the field of a node; None for a frozen field."""
    def get(self, /, node: Any) -> Any:
        """Reads the field of a node."""
    @property
    def name(self) -> str:
        """The name of the field."""
    def set(self, /, node: Any, value: Any) -> None:
        """Writes the field of a node, even if it is frozen.

        Raises TypeError if the value does not fit.
        """

@final
class RepeatedBlock:
    """A block of dataflow nodes that occurs several times, by `repeated_blocks`."""

    def __repr__(self, /) -> str: ...
    @property
    def digest(self) -> Any:
        """The name of the block in hexadecimal digits, which the same block of another program
        has, too. Neither the elements of tensors nor the values used from outside count.
        None if a part of the block cannot be hashed.
        """
    @property
    def places(self) -> list[tuple[int, list[Any]]]:
        """The copies in order: the number of the value that contains the copy, and its nodes.
        Nodes at the same position of two copies correspond to each other.
        """
    @property
    def saved(self) -> int:
        """The nodes that would go if the block were a function, and each copy a call of it."""
    @property
    def size(self) -> int:
        """The number of nodes in each copy."""

@final
class Rewritten(Generic[_R]):
    """The result of rewriting a value."""

    def __repr__(self, /) -> str: ...
    @property
    def applied(self) -> tuple[int, ...]:
        """The number of applications of each rule, in the order of the rules."""
    @property
    def attempts(self) -> Any:
        """The number of times a rule was tried on a value, in all."""
    @property
    def value(self) -> _R:
        """The value, to which no rule applies any more."""

@final
class Rule:
    """A pattern and the replacement for its matches.

    `replacement` is a template over the variables of the pattern, or a function of the
    `Match` that returns the new value, or None if the rule does not apply. `guard` is a
    function of the `Match` that returns whether it applies. Of several rules that apply, the one
    with the highest `benefit` is used.

    `introduces` names the free variables of a template that the pattern lacks, such as global
    variables.

    Raises ValueError if a template binds a hole or a free variable of the pattern, uses a
    variable that only the pattern binds, or has another free variable.
    """

    def __new__(
        cls,
        pattern: Pattern[Any],
        replacement: Any,
        guard: Any = ...,
        *,
        benefit: int = ...,
        introduces: Iterable[Any] = ...,
    ) -> Rule: ...
    def __repr__(self, /) -> str: ...
    def apply(self, /, value: Any) -> Any:
        """The replacement of a value; None if the rule does not apply."""
    @property
    def benefit(self) -> Any:
        """The benefit."""
    @property
    def pattern(self) -> Any:
        """The pattern."""
    @staticmethod
    def results(pattern: Any, replacements: Any, guard: Any = ..., *, benefit: Any = ...) -> Any:
        """A rule for a node with several results, which `replacements` replace one by one:
        templates, or a function of the `Match` that returns the values, or None.

        The class of an object that selects a result declares `rewrite.projection`, and that of a
        statement that binds variables to all results `rewrite.binding`. The rule applies if
        everything that uses the node selects a result that has a replacement. Only
        `rewrite_greedily` takes such rules.
        """

@final
class Schema:
    """A compiled schema: the values that a field or an element accepts."""

    def __new__(cls, spec: Any) -> Schema: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def check(self, /, value: Any) -> None:
        """Raises TypeError unless the value converts."""
    def convert(self, /, value: Any) -> Any:
        """Converts the value as a field of this schema does."""

@final
class SequenceIterator:
    """An iterator over an array or a list."""

    def __iter__(self, /) -> Iterator[Any]: ...
    def __next__(self, /) -> Any: ...

@final
class SharedBlock:
    """A block that occurs in several files."""

    def __repr__(self, /) -> str: ...
    @property
    def digest(self) -> str:
        """The digest of the block."""
    @property
    def files(self) -> list[tuple[str, int]]:
        """The paths of the files, at least two, and how often the block occurs in each."""
    @property
    def nodes(self) -> int:
        """The number of nodes."""

@final
class Store:
    """Bytes under their digests, and results under keys, for any number of processes.

    Made by `Store.open`. A store never returns wrong bytes: a damaged file counts as absent.
    A handle works in a forked child, and is pickled by its URL and options, never with
    credentials.
    """

    def __enter__(self, /) -> Self: ...
    def __exit__(self, /, *_exception: Any) -> None: ...
    def __reduce__(self, /) -> tuple[Any, ...]: ...
    def __repr__(self, /) -> str: ...
    def close(self, /) -> None:
        """Closes the handle: later calls raise ValueError. Calls of other threads come to their
        end.
        """
    def contains(self, /, name: str) -> bool:
        """True if `get` returns the bytes now. O(bytes)."""
    def entry(self, /, key: EntryKey, *, confirm: Any = ...) -> Entry | None:
        """Returns the entry of a key, or None.

        Args:
            key: the key.
            confirm: True to return only an entry whose kept program is structurally equal to
                the program of the key; or another program for the comparison. A key that
                forgets an input is found in this way.
        """
    def evict(
        self,
        /,
        *,
        max_bytes: int | None = ...,
        max_age: float | timedelta | None = ...,
        max_count: int | None = ...,
    ) -> dict[str, dict[str, int]]:
        """Removes the least recently used files until the store is within the limits, which are
        those of `open`. Returns {"removed": {"files": …, "bytes": …}, "kept": the same}.
        O(files).
        """
    def find(self, /, **parts: str | float | bool | None) -> list[tuple[str, dict[str, str]]]:
        """The keys of the entries with all these parts, newest first, as pairs: the digest, and
        the parts as in `EntryKey.parts`. A name other than job, program, version, cache and
        cache_version is that of an option. O(files) without an index.
        """
    def get(self, /, name: str) -> bytes | None:
        """Returns the bytes with a name, or None. Raises ValueError for a text that is not a
        name. O(bytes).
        """
    def list(self, /) -> list[tuple[str, str, int, int]]:
        """All values and entries, as (kind, name, bytes of the file, time of the last use in
        seconds since 1970). O(files).
        """
    @staticmethod
    def open(
        url: str | PathLike[str],
        *,
        read_only: bool = ...,
        durable: bool = ...,
        max_bytes: int | None = ...,
        max_age: float | timedelta | None = ...,
        max_count: int | None = ...,
    ) -> Store:
        """Opens a store: the path of a folder, which is created on demand, "memory:", or the
        URL of a server, such as "s3:bucket/prefix" or "redis://host", for which
        `pip install 'isoform[remote]'` adds the client.

        Args:
            url: the path or URL.
            read_only: never change the store.
            durable: every put survives a loss of power.
            max_bytes: the size of all files at which a put evicts the least recently used.
            max_age: the time since its last use after which a file is evicted, in seconds or
                as a timedelta.
            max_count: the number of files at which a put evicts the least recently used.

        Raises ValueError for another URL, OSError if the folder cannot be opened, and
        ImportError without the client of servers.
        """
    def put(self, /, data: bytes | bytearray | memoryview) -> str:
        """Stores bytes, and returns their name: 64 hexadecimal digits. Raises OSError if the
        bytes cannot be stored. O(bytes).
        """
    def put_entry(
        self,
        /,
        key: EntryKey,
        value: bytes | bytearray | memoryview,
        *,
        metadata: dict[str, str] | None = ...,
        program: Any = ...,
    ) -> bool:
        """Stores a result under a key, unless the key has an entry. Returns True if the store
        has this result now, and False if it keeps an earlier one.

        Args:
            key: the key.
            value: the result, bytes.
            metadata: texts by name, which `entry` returns.
            program: a node, value or model that the store keeps next to the entry, instead of
                the program of the key.
        """
    def remove(self, /, name: str) -> bool:
        """Removes the bytes with a name. Returns False if the store does not have them."""
    def remove_entry(self, /, key: EntryKey) -> bool:
        """Removes the entry of a key. Returns False if there is none."""
    def sizes(self, /) -> dict[str, dict[str, int]]:
        """The number and the bytes of the files: {"values": {"files": …, "bytes": …}, "entries":
        the same}. O(1) after the first call.
        """
    def statistics(self, /) -> dict[str, int]:
        """Counts of this handle: hits, misses, damaged files, unconfirmed hits, puts and bytes."""
    @property
    def url(self) -> str:
        """The URL without credentials."""
    def verify(self, /, repair: bool = ...) -> dict[str, Any]:
        """Checks all files. Returns {"whole": count, "bytes": count, "damage": [(path, reason)],
        "foreign": [(path, layout version)], "removed": count}. `repair` removes the damaged
        files. O(bytes of all files).
        """

@final
class StructuralMismatch:
    """The reason why two values are not structurally equal, and the place.

    As a str, both sides as text, with the place underlined.
    """

    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str | None:
        """The mismatch in a notebook."""
    @property
    def left(self) -> Any:
        """The value at the place on the left; None if the left side has no value there."""
    @property
    def left_exists(self) -> bool:
        """True if the left side has a value there."""
    @property
    def left_path(self) -> AccessPath:
        """The place of the difference in the left value."""
    @property
    def reason(self) -> str:
        """The reason for the difference, a sentence."""
    def render(
        self, /, *, values: int = ..., lines: int = ..., width: int = ..., color: bool = ...
    ) -> str:
        """Both sides as text, with the place underlined.

        `values` and `lines` limit the number of values shown of a side, and of lines
        above and below the place; `width` is the number of columns that a line should
        have; `color` colours the text for a terminal. The cost depends only on these
        and on the length of the paths.
        """
    @property
    def right(self) -> Any:
        """The value at the place on the right; None if the right side has no value there."""
    @property
    def right_exists(self) -> bool:
        """True if the right side has a value there."""
    @property
    def right_path(self) -> AccessPath:
        """The place of the difference in the right value."""
    def save_html(
        self,
        /,
        path: str | PathLike[str],
        *,
        names: str | tuple[str, str] | None = ...,
        force: bool = ...,
    ) -> None:
        """Writes the page of `to_html` to a file, completely or not at all.

        Raises FileExistsError for a file that exists, unless `force` is true, and OSError for
        one that cannot be written.
        """
    def to_html(self, /, *, names: str | tuple[str, str] | None = ...) -> str:
        """The mismatch as a page for a browser, one file of HTML; see docs/pages.md.

        `names` has the names of both sides, by default `left` and `right`.
        """
    def to_markdown(
        self, /, *, names: str | tuple[str, str] | None = ..., page_url: str | None = ...
    ) -> str:
        """A summary as Markdown, for a pull request: always below 60,000 characters. `page_url`
        is the address of the whole page.
        """

@final
class StructuralMutator:
    """The running rewrite, for callbacks that rewrite children themselves.

    An object is rewritten once, in each kind of region if these are distinguished, and
    its result is used wherever it is met again. Must not be used after the rewrite has
    ended.
    """

    def _image(self, /, var: Any) -> Any:
        """The replacement of a variable that was met before, or None."""
    def _remap_uses(self, /, var: Any, value: Any) -> Any:
        """Records a replacement for the uses of a variable that are met from now on,
        regardless of any callback for it.
        """
    def def_region_kind(self, /) -> Any:
        """The region of the running rewrite, a DefRegionKind: whether variables are bound
        or used there.
        """
    def default_mutate(self, value: _T) -> _T:
        """The value with its children rewritten, without calling a callback for it: by the
        hook `__s_mutate__` of its type, or by its fields. For the object whose hook is
        running, the fields are rewritten.
        """
    def mutate(self, value: _T) -> _T:
        """The result for a value: from its callback, or the value with its children
        rewritten if there is none.

        Returns the same object if nothing changes. Raises ValueError for a value that
        is still being rewritten, TypeError for a result that does not fit its field.
        """
    def var_remap_get(self, /, var: Any) -> Any:
        """The recorded replacement of a variable, or None."""
    def var_remap_set(self, /, var: Any, value: Any) -> Any:
        """Records a replacement for a variable wherever it is met from now on without its
        own callback.
        """
    def with_def_region_kind(self, /, kind: Any, callback: Any) -> Any:
        """Calls a function without arguments in another kind of region, and returns its
        result.
        """

@final
class StructuralVisitor:
    """The running visit, for callbacks that visit children themselves.

    An object is visited once, in each kind of region if these are distinguished;
    visiting it again does nothing. Must not be used after the visit has ended.
    """

    def def_region_kind(self, /) -> Any:
        """The region of the running visit, a DefRegionKind: whether variables are bound or
        used there.
        """
    def default_visit(self, /, value: Any) -> Any:
        """Visits the children of a value, without calling a callback for the value: by the
        hook `__s_visit__` of its type, or by its fields. For the object whose hook is
        running, the fields are visited.
        """
    def visit(self, /, value: Any) -> Any:
        """Visits a value: calls its callback, or visits the children if no callback fits.

        Returns None, or the VisitInterrupt that a callback returned. Raises ValueError
        for a value that is still being visited.
        """
    def with_def_region_kind(self, /, kind: Any, callback: Any) -> Any:
        """Calls a function without arguments in another kind of region, and returns its
        result.
        """

@final
class SubtermClasses:
    """The class of every subterm of a value, by `subterm_classes`.

    Classes are numbers from zero, in the order in which their first members are finished, parts
    before wholes. The table describes the moment when it was made, and keeps the subterms alive.
    """

    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def class_of(self, /, value: Any) -> int | None:
        """The class of a subterm; None for a value that is not an object, or not part of the value
        that the table was made of. O(1).
        """
    @property
    def costs(self) -> dict[str, int]:
        """The work done, by name: `visits` of objects, `map_updates` and `map_copies` of entries
        for variables, `comparisons` for subterms that only these can decide, and the objects
        `compared` by them.
        """
    def is_decided_by_comparison(self, /, number: Any) -> bool:
        """True if comparison found the class, since the equality of its members depends on more
        than their parts: a custom comparison is inside, for example. Raises IndexError for a
        number that is not a class.
        """
    def members(self, /, number: Any) -> list[Any]:
        """The members of a class, in the order in which they are finished; each object counts
        once. Raises IndexError for a number that is not a class.
        """
    def size(self, /, number: Any) -> int:
        """The number of nodes in each member of a class, each occurrence counted, at most
        2**64 - 1. Containers, strings and tensors do not count. Raises IndexError for a number
        that is not a class.
        """

@final
class TraitHandle:
    """The data of a trait for `implements`, stored as `__isoform_handle__` of its class."""

    def __new__(cls, name: str, marker: Any, view: Any, has_methods: bool) -> TraitHandle: ...
    @property
    def name(self) -> str:
        """The name of the attribute."""

@final
class TypeField:
    """A field of a registered type."""

    def __repr__(self, /) -> str: ...
    @property
    def annotation(self) -> str:
        """The values that the field accepts, as an annotation."""
    @property
    def compare(self) -> bool: ...
    @property
    def default(self) -> Any:
        """The default value, or MISSING."""
    @property
    def default_factory(self) -> Any:
        """The default factory, or MISSING."""
    @property
    def doc(self) -> str | None: ...
    @property
    def frozen(self) -> bool: ...
    @property
    def has_default(self) -> bool: ...
    @property
    def hash(self) -> bool: ...
    @property
    def init(self) -> bool: ...
    @property
    def kw_only(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def offset(self) -> int:
        """The offset of the field, in bytes from the start of the object."""
    @property
    def repr(self) -> bool: ...
    @property
    def size(self) -> int:
        """The size of the field in bytes."""
    @property
    def structural_eq(self) -> str | None:
        """The role of the field in structural comparison, as `field` spells it."""

@final
class TypeInfo:
    """A registered type: key, parent, fields, structural kind."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    @property
    def dialect(self) -> str:
        """The dialect: the type key up to the last dot."""
    @property
    def doc(self) -> str: ...
    @property
    def fields(self) -> tuple[TypeField, ...]:
        """The fields that the type adds to those of its parent."""
    @property
    def init_function(self) -> Any:
        """The function that the constructor calls, if it does not take the fields."""
    @property
    def init_parameters(self) -> tuple[list[str], int]:
        """The names of the constructor's parameters in order, and how many of them may be
        positional.
        """
    @property
    def is_builtin(self) -> bool: ...
    @property
    def kind(self) -> str | None:
        """The structural kind, as `py_class` spells it."""
    @property
    def methods(self) -> Any:
        """The methods that the class marks with `isoform.method`."""
    @property
    def parent_type_info(self) -> TypeInfo | None:
        """The parent type; None for a type that only extends `Object`."""
    @property
    def scope(self) -> bool: ...
    @property
    def type_cls(self) -> type[Any]:
        """The Python class."""
    @property
    def type_index(self) -> int:
        """The index of the type in this process."""
    @property
    def type_key(self) -> str: ...
    @property
    def visit_name(self) -> str:
        """The name of the type's visitor methods, after `visit_`."""
    @property
    def visit_order(self) -> list[str]:
        """The names of all fields, those of parents included, in the order of visit."""

@final
class TypeMethod:
    """A method that a class marks as public for tools."""

    def __repr__(self, /) -> str: ...
    @property
    def doc(self) -> Any: ...
    @property
    def func(self) -> Any:
        """The function itself."""
    @property
    def is_static(self) -> Any:
        """True if it takes no instance."""
    @property
    def name(self) -> Any:
        """The name of the method."""

@final
class User:
    """A place where a value is used."""

    def __repr__(self, /) -> str: ...
    @property
    def owner(self) -> Any:
        """The object or container that holds the value."""
    @property
    def path(self) -> Any:
        """A path from the root to the place; if the owner is shared, the path through one of its
        own places.
        """

@final
class Uses(Generic[_R]):
    """The users of every object and variable below a root.

    It describes the root as it was when the analysis was made. A use is a place: a field, an
    item or an entry of an object that holds the value. Variables are used wherever they occur
    outside of definition fields. Fields that comparison ignores are not searched.

    Raises ValueError for a value that contains itself; TypeError or ValueError for an attribute
    `rewrite.binding` of the wrong form. Linear in the number of distinct objects, in one pass.
    """

    def __new__(cls, root: _R) -> Uses[_R]: ...
    def __repr__(self, /) -> str: ...
    def definition(self, /, var: Any) -> Any:
        """The statement or expression that binds a variable to a value, if its class declares
        `rewrite.binding`; None for a variable that something else binds, nothing, or several
        places, and for one that is also used outside of the scope of its definition. O(1), after
        O(n log n) for the first question.
        """
    def has_one_use(self, of: Any) -> bool:
        """True if a value is used in exactly one place. O(1)."""
    def path(self, /, of: Any) -> Any:
        """The path to a value: that of one of its places, or the root. None if it does not occur."""
    def replace_all(self, old: Any, new: Any) -> _R:
        """The root with all uses of `old` replaced by `new`. What contains none is the same object,
        and definitions stay.

        A free variable is replaced as by `substitute`, so uses in a scope that binds it stay; a bound
        one by anything that is visible where it is bound, and another object where it stands. A bound
        variable whose own fields change becomes a new one, wherever it occurs.

        Raises ValueError if a variable of `new` is bound where `old` is used but not where it is
        bound; TypeError with the path if `new` does not fit a field. Takes time in proportion to
        the uses and the objects around them.
        """
    @property
    def root(self) -> _R:
        """The root."""
    def use_count(self, of: Any) -> int:
        """The number of places where a value is used. O(users)."""
    def users(self, of: Any) -> list[User]:
        """The places where a value is used, in no particular order; an empty list for a value that
        does not occur. O(users), plus the depth of each for its path.
        """

@final
class VisitInterrupt:
    """Returned by a callback to end a walk, with a value for the caller."""

    def __new__(cls, value: Any = ...) -> VisitInterrupt: ...
    def __repr__(self, /) -> str: ...
    @property
    def value(self) -> Any:
        """The value for the caller."""

class _DataFault(ValueError):
    """The data that a hook reads is wrong; the reader adds the place in the file."""

def _callable_of(function: Any) -> Any:
    """The Python callable that a function was made from; None for any other function."""

def _describe_function(
    function: Any, known_as: Any, doc: str | None, parameters: Any, returns: Any
) -> Any:
    """Adds metadata to a callable: returns a new `Function` called `known_as` unless that
    is None, with documentation, and with a signature unless the parameters are None.
    Each parameter consists of a name, a schema, whether it has a default, and the
    default.
    """

def _device_name(kind: Any) -> Any:
    """The name of a kind of device."""

def _device_parts(text: str) -> Any:
    """DLPack's number for a kind of device and the ordinal, from text."""

def _diff(
    left: Any,
    right: Any,
    map_free_vars: bool,
    skip_tensor_content: bool,
    tolerances: Any,
    types: Any,
    fields: Any,
    predicates: Any,
) -> Any:
    """`isoform.diff.diff`, with everything to ignore by kind."""

def _dtype_name(code: Any, bits: Any, lanes: Any) -> Any:
    """The name of a data type with DLPack's numbers."""

def _dtype_parts(text: str) -> Any:
    """The name, code, bits and lanes of a data type, and all of them packed."""

def _from_dlpack(value: Any, copy: Any) -> Any:
    """Makes a tensor from an array; see `isoform.from_dlpack`."""

def _from_pickle(
    data: Any, cls: type[Any] = ..., modules: Any = ..., ignore_unknown_fields: bool = ...
) -> Any:
    """The inverse of `__reduce__`."""

def _from_pickle_apart(
    data: Any,
    buffers: Any,
    cls: type[Any] = ...,
    modules: Any = ...,
    ignore_unknown_fields: bool = ...,
) -> Any:
    """The inverse of `__reduce_ex__` with protocol 5. The memory of a read-only buffer is
    shared; others are copied. `pickle` makes buffers of tensors read-only, also where
    the caller can write to them, and then must not.
    """

def _install_container(*args: Any, **kwargs: Any) -> Any:
    """Makes a class the Python class of a container, and attaches its methods.

    Raises ValueError for a name that is not a container's.
    """

def _install_function(*args: Any, **kwargs: Any) -> Any:
    """Makes a class the Python class of functions, or of opaque values.

    Raises ValueError for any other name.
    """

def _install_logger(logger: Any, show: Any) -> Any:
    """Sends messages of the passes to a logger of Python's `logging`, unless the program
    that embeds the library has its own subscriber. `show` gets programs that somebody asked
    for, which are messages at level INFO.
    """

def _install_tensor(*args: Any, **kwargs: Any) -> Any:
    """Makes a class the Python class of tensors."""

def _level(function: Any, *arguments: Any) -> Any:
    """Calls a function as a level of methods: where levels nest deeply, in a thread with a
    stack of its own.
    """

def _merge(base: Any, left: Any, right: Any, map_free_vars: bool, types: Any, fields: Any) -> Any:
    """`isoform.diff.merge`, with everything to ignore by kind."""

def _methods_of(cls: type[Any]) -> list[tuple[str, Any]]:
    """The methods that are registered for exactly the type of a class: names and
    functions.
    """

def _page_html(subject: Any, names: str | tuple[str, str] | None) -> str:
    """`isoform.pages.to_html`, for an IR value or a handle of a result."""

def _page_markdown(subject: Any, names: str | tuple[str, str] | None, page_url: str | None) -> str:
    """`isoform.pages.to_markdown`."""

def _page_notebook(subject: Any) -> str | None:
    """The output of a notebook for the handle of a result; None if there is none."""

def _page_picture(subject: Any, format: str, title: str | None) -> str:
    """`isoform.pages.picture`."""

def _page_save(
    subject: Any, path: str | PathLike[str], names: str | tuple[str, str] | None, force: bool
) -> None:
    """`isoform.pages.save_html`."""

def _register_config_option(key: Any, schema: Schema | None, default: Any, doc: Any) -> Any:
    """Registers an option of pass contexts."""

def _register_global_func(name: str, function: Any, replace: bool) -> Any:
    """Registers a callable under a global name and returns the registered function.

    Raises ValueError if the name is taken and `replace` is false.
    """

def _register_method(
    cls: type[Any], name: str, function: Any, is_static: Any, replace: bool
) -> None:
    """Registers a method of the type of a class. Its first argument is the object unless
    it is static.

    Raises TypeError for anything that is not a class of a type or not callable, and
    ValueError for the name of a field, and for a name that is taken unless `replace`.
    """

def _require_type(key: Any, module: Any) -> Any:
    """Imports the module that declares a type, unless the type is known.

    Raises ImportError if the type is still unknown afterwards.
    """

def _set_access_kind(*args: Any, **kwargs: Any) -> None:
    """Sets the enum class of the kinds of steps. Called once, by the package."""

def _set_import_hook(hook: Any) -> None:
    """Sets, once, the function that imports the module with the class of a native type, which is
    called with the key of the type.
    """

def _set_method_hook(hook: Any) -> None:
    """Sets, once, the function that adds methods registered in Rust to classes."""

def _set_native_hook(hook: Any) -> None:
    """Sets, once, the function that completes the classes made for native types with the
    methods that the Python layer adds to every node class.
    """

def _set_python_types(dtype: Any, device: Any, shape: Any) -> None:
    """Registers the classes for data types (a subclass of str), devices and shapes (a
    subclass of tuple). Called once, by the package.
    """

def _set_value_class(*args: Any, **kwargs: Any) -> None:
    """Makes a class of Python a value class.

    `node` is the class of the type, `to_node` makes an object of it from an instance of
    `class`, and `from_node` the instance from an object. Raises TypeError if `node` is
    not registered.
    """

def _set_walk_enums(walk_result: Any, region_kind: Any) -> None:
    """Sets the classes `WalkResult` and `DefRegionKind` for walks. Called once, by the
    package.
    """

def _signature_of(
    function: Any,
) -> tuple[list[tuple[str | None, str, bool, Any, bool]], str, str] | None:
    """The parameters of a function, the text of its result's schema, and its language;
    None if unknown.
    """

def _store_cache(store: Any) -> Any:
    """The cache of pure passes that keeps results in a store."""

def _tensor_from_bytes(data: Any, shape: Any, dtype: Any) -> Any:
    """Makes a tensor from bytes; see `isoform.Tensor.from_bytes`."""

def _to_plain(root: Any, leaf: Any, names: Any, factory: Any = ...) -> Any:
    """Converts an object to nested dicts, or tuples, of its fields; its arrays and lists
    become lists, maps and dicts become dicts.

    Objects of the class `leaf` stay as they are; `factory` replaces Python's own dict,
    called with a list of pairs, or tuple, called with a list. An object that is reached
    in several ways is converted once. Raises ValueError for an object that contains
    itself. Linear in the number of distinct objects.
    """

def _type_count() -> int:
    """How many types are registered."""

def _value_object(value: Any) -> Any:
    """The object of an instance of a value class as an instance of `Object`, for hooks of
    its type; None for all other objects.
    """

def _visit_names() -> list[tuple[str, str, str]]:
    """The names of the registered types for visitors: key, dialect, and the name of the
    class.
    """

def _watch_unequal(callback: Any) -> None:
    """Sets the function called with both values and the options whenever `structural_equal`
    is false, so that a test tool can explain the failure; None for no function.
    """

def ask_traits(node: Any, count: Any) -> Any:
    """The traits of a node, as a pass in Rust sees them: by name, those with methods with
    the results. `total` is called for `count` nodes.

    Raises exceptions of the methods.
    """

def assert_structural_equal(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: bool = ...,
) -> None:
    """Raises StructuralError, an AssertionError and a ValueError, with the explained mismatch,
    unless two values are structurally equal. For programs of `isoform.onnx`, it names the nodes, weights and elements that differ.
    """

def bind_class(cls: type[Any], type_key: str) -> TypeInfo:
    """Makes a class the Python class of a type that was declared natively: fields become
    properties, and a constructor is added unless the class has its own.

    Raises KeyError for an unknown type key, ValueError if the type already has a class.
    """

def binding_faults(root: Any) -> list[tuple[AccessPath, str]]:
    """The faults of the bindings of a value, as pairs of a path and a message."""

def call_attribute(node: Any, name: str, *arguments: Any) -> Any:
    """Calls, from Rust, the function that is an attribute of a node's type or of its
    nearest ancestor that has it.

    Raises AttributeError if there is none, TypeError if it is not a function, and
    exceptions of the function.
    """

def call_method(object: Any, name: str, *arguments: Any) -> Any:
    """Calls a method of an object by its name, as Rust does.

    Raises AttributeError if the type has no such method, and exceptions of the method.
    """

def check_laws(
    values: list[Any], map_free_vars: bool = ..., skip_tensor_content: bool = ...
) -> Any:
    """Checks that equality is reflexive, symmetric and transitive on the given
    values, and that equal values have the same hash and digest. Cubic in the
    number of values.

    Raises ValueError with the law and the values that break it.
    """

def check_types(values: list[Any]) -> None:
    """Checks that the given values keep the promises of their types' kinds: nothing below
    a `const-tree` is a variable or a `dag` node.

    Raises ValueError with the type and the place.
    """

def class_of(type_key: str) -> type[Any]:
    """The Python class of a type; created on demand for a type declared natively that has
    none yet.

    Raises KeyError for an unknown type key.
    """

def cli_main(
    argv: Sequence[str],
    import_module: Any = ...,
    find_runtime: Any = ...,
    index_with_ray: Any = ...,
    find_types: Any = ...,
) -> int:
    """Runs the command `isoform` with these arguments, the program's name first, and
    returns its exit status: 0 if equal or done, 1 if different, 2 on error.

    `import_module` is called with each value of the option `--import`, or of the settings of a
    project, and with a folder; it returns None, or the text of an error. `find_types` is
    called with the keys of unknown types of a file, and returns notes. `find_runtime` is called for `optimize --verify` and `diff --run`, and
    returns None or a pair: the name of a runtime, and a function that runs models with it.
    `index_with_ray` is called for `index --engine ray` with the arguments of
    `isoform._corpus_ray.index_with_ray`; the message of its exception is that of the command.

    Writes to the process's own standard output and error, not to `sys.stdout`. Other
    Python threads run meanwhile.
    """

def collect() -> Any:
    """Frees the objects of the core that only keep each other alive, and returns their
    number.

    Python's own collector calls this function after every full collection (such as
    `gc.collect()`), so an explicit call is rarely needed.
    """

def compute_kernel(name: str, *operands: Any, **options: Any) -> Any:
    """The results of a kernel on operands, each as element type, shape and bytes.

    Raises ValueError with the kind and the message of the kernel's error.
    """

def convert(value: Any) -> Any:
    """Converts a Python value to the core and back; see `isoform.convert`."""

def convert_func(callable: Any) -> Any:
    """Makes a `Function` from a callable; see `isoform.convert_func`."""

def declaration_digest(cls: type[Any]) -> bytes:
    """The digest of the declaration of a class and of all classes that its compared fields name:
    32 bytes, the same in every process that declares them alike, in any order.

    It changes with a type key, that of a parent included, the kind, `scope`, and with name,
    accepted values, flag, default and order of visit of the compared fields; not with ignored
    fields, aliases, members of enums, methods and documentation, nor with classes that extend a
    named one. A default factory is called twice; only its presence counts if the values differ.

    Args:
        cls: a class declared with `py_class`, or the class of a native type.

    Raises:
        TypeError: anything but such a class, also one that still waits for the names in its
            annotations; a default that cannot be compared.
        ValueError: a default without a portable name, such as a free variable.

    Linear in the number of fields of all these classes, and in the sizes of their defaults.

    >>> from isoform import declaration_digest, tir
    >>> declaration_digest(tir.Add) == declaration_digest(tir.Mul)
    False
    """

@overload
def deep_copy(value: list[_T] | tuple[_T, ...]) -> Array[_T]: ...
@overload
def deep_copy(value: dict[_K, _V]) -> Map[_K, _V]: ...
@overload
def deep_copy(value: _T) -> _T:
    """Returns a copy of a value and of everything below it that can be copied.

    Sharing and cycles are kept. Singletons, functions, tensors and opaque Python
    objects are shared with the original. O(size).
    """

def duplicates(
    values: Sequence[Any],
    min_size: int = ...,
    min_count: int = ...,
    map_free_vars: bool = ...,
    *,
    sharing: bool = ...,
    mutable_by_identity: bool = ...,
) -> list[Duplicate]:
    """The subterms that occur several times in values, those that save most first.

    Comparison has confirmed that all members of a group are equal. A group is left out if all
    occurrences of its members are inside members of another one. Objects that select a result of
    a node, by the attribute `rewrite.projection`, are in no group: the node counts.

    Args:
        values: the programs.
        min_size: the smallest number of nodes in a member, at least two.
        min_count: the smallest number of members, at least two.
        map_free_vars: whether free variables are equal up to renaming.
        sharing: whether dag objects count as different if they are shared in different ways.
        mutable_by_identity: whether objects that can change are only equal to themselves.

    Raises:
        ValueError: a value contains itself, with the path.

    O(n log n) for n distinct objects, plus the sizes of all members found.
    """

def explain_structural_mismatch(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: bool = ...,
) -> StructuralMismatch | None:
    """The first difference between two values, with the reason; None if they are equal."""

def field_flags() -> list[tuple[str, str]]:
    """The names of field flags, each with the usual name of its flag."""

def free_variables(root: Any) -> list[Object]:
    """The variables that occur free in a value, in the order of their first free
    occurrences.

    Bindings are those of `substitute`; the fields of free variables are not searched.

    Raises ValueError for a value that contains itself. Linear in the number of distinct
    objects as long as each variable is bound once.
    """

@overload
def fresh_binders(root: list[_T] | tuple[_T, ...]) -> Array[_T]: ...
@overload
def fresh_binders(root: dict[_K, _V]) -> Map[_K, _V]: ...
@overload
def fresh_binders(root: _T) -> _T:
    """A copy of a value in which every binder has a new variable: structurally equal to the
    value, with the same free variables.

    A variable that several objects bind becomes a new variable for each of them. Sharing is
    kept: an object on several paths remains one object, and parts without a binder are the
    same objects.

    Raises ValueError for a value that contains itself. Linear in the number of distinct
    objects as long as each variable is bound once.
    """

def from_bytes(data: Any, ignore_unknown_fields: bool = ...) -> Any:
    """Reads a value in the binary form made by `to_bytes`.

    Raises ValueError for damaged data or another version, otherwise the same exceptions
    as `from_json_graph_str`. O(length).
    """

def from_json_graph_str(json_str: Any, ignore_unknown_fields: bool = ...) -> Any:
    """Reads the value of a JSON graph.

    Missing fields take their default. Raises ValueError for text that is not a JSON
    graph, and for fields that the type does not have unless `ignore_unknown_fields`;
    TypeError for an unknown type, a missing field without default and a value that does
    not fit; each names the node. O(length).
    """

def from_text(text: str, ignore_unknown_fields: bool = ...) -> Any:
    """Parses the text of a value.

    Raises ValueError for text that is not a value, with line, column and the line
    itself, and for fields that the type does not have unless `ignore_unknown_fields`;
    TypeError for unknown types, missing fields and values that do not fit. O(length).
    """

def get_first_structural_mismatch(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: bool = ...,
) -> tuple[AccessPath, AccessPath] | None:
    """The paths of the first difference between two values; None if they are equal."""

def get_global_func(name: str, allow_missing: Any = ...) -> Any:
    """The function registered under a global name.

    Raises ValueError if there is none; with `allow_missing`, returns None instead.
    """

def implements(of: Any, trait: Any, /, *, inherit: bool = ...) -> Any:
    """A type or node as an instance of a trait; None if it does not have the trait; see
    `isoform.type_attrs.implements`.
    """

@overload
def intern(value: list[_T] | tuple[_T, ...]) -> Array[_T]: ...
@overload
def intern(value: dict[_K, _V]) -> Map[_K, _V]: ...
@overload
def intern(value: _T) -> _T:
    """A structurally equal value in which equal subterms are one object: less memory, smaller
    files, and traversals that visit every shared part once.

    The first occurrence stays, with its ignored fields. Objects of kind tree and const-tree,
    arrays and maps are merged, unless definitions in them are used after them. Variables and
    their fields, lists, dicts, objects with mutable fields and keys of maps stay the same
    objects; dag objects are never merged. The result is the same object if nothing is repeated.

    Raises ValueError for a value that contains itself. O(n log n) for n distinct objects.
    """

def json_graph_metadata(json_str: Any, ignore_unknown_fields: bool = ...) -> Any:
    """The `metadata` that was passed when a JSON graph was written, or None. Reads the
    whole graph.
    """

def last_visit_count() -> int:
    """The number of pairs or objects that the last comparison, hash or digest of this
    thread visited.
    """

def list_global_func_names() -> Any:
    """The names of all registered functions, in order of registration."""

def make_node(type_key: str, fields: Any) -> Any:
    """Makes an object of a type from its fields by name, without the constructor of its
    class; omitted fields take their defaults. Runs the `__post_init__` of a class
    declared in Python.

    Raises KeyError for an unknown key, AttributeError for an unknown field, TypeError
    for one that is missing or does not fit.
    """

def mlir_changes(difference: Any) -> Any:
    """A difference operation by operation; see `isoform.mlir.changes`."""

def mlir_extract(program: Any, symbols: Any) -> Any:
    """The part of a program that symbols need; see `isoform.mlir.extract`."""

def mlir_normal_form(
    program: Any, io_names: bool, contents: Any, symbol_order: Any, semantics: Any, dialects: Any
) -> Any:
    """The normal form of a program at a level; see `isoform.mlir.normal_form`."""

def mlir_passes(text: str | bytes) -> Any:
    """The steps of dumps; see `isoform.mlir.passes`."""

def mlir_read(text: str | bytes, name: str, symbol_names: Any) -> Any:
    """A program from text; see `isoform.mlir.read`."""

def mlir_read_attribute(text: str) -> Any:
    """An attribute or a type from text; see `isoform.mlir.read_attribute`."""

def mlir_read_split(text: str | bytes, name: str) -> Any:
    """The programs of a text; see `isoform.mlir.read_split`."""

def mlir_region(blocks: Any) -> Any:
    """A region of blocks; see `isoform.mlir.region`."""

def mlir_with_bindings(program: Any) -> Any:
    """A program with the current bindings of its regions; see `isoform.mlir.with_bindings`."""

def mlir_write(program: Any, locations: Any, max_elements: Any, kind_names: Any) -> Any:
    """The text of a program; see `isoform.mlir.write`."""

def onnx_diff(
    left: Any,
    right: Any,
    *,
    ignore_shapes: Any,
    strict: Any,
    skip_tensor_content: bool,
    tolerance: Any,
) -> Any:
    """The differences of two models; see `isoform.onnx.diff`."""

def onnx_diff_run(
    left: Any,
    right: Any,
    *,
    tolerance: Any,
    seed: int,
    sets: Any,
    thresholds: Any,
    runtime: Any,
    inputs: Any,
    shapes: Any,
) -> Any:
    """Runs two models on the same inputs and compares their values; see `isoform.onnx.diff_run`.
    Returns the result, and its text.
    """

def onnx_evaluate(program: Any, inputs: Any, max_bytes: int | None) -> Any:
    """The results of a program by name; see `isoform.onnx.evaluate`."""

def onnx_extract(*args: Any, **kwargs: Any) -> Any:
    """The part of a program between values; see `isoform.onnx.extract`."""

def onnx_fix_dims(model: Any, dims: Any, input_shapes: Any) -> Program:
    """The program with dimensions as numbers; see `isoform.onnx.fix_dims`."""

def onnx_infer_shapes(model: Any) -> OnnxShapes:
    """Derives the types of all values; see `isoform.onnx.infer_shapes`."""

def onnx_load(
    path: str | PathLike[str], *, mmap: bool = ..., io_names: bool = ..., follow_links: bool = ...
) -> OnnxModel:
    """Loads a model; see `isoform.onnx.load`."""

def onnx_load_bytes(data: Any, *, io_names: bool = ...) -> Any:
    """Loads an encoded model from memory; see `isoform.onnx.load`."""

def onnx_optimize(
    model: Any, *, fold: Any, fuse: Any, max_constant: Any, only: Any, without: Any, rules: Any
) -> Any:
    """Optimises a program; see `isoform.onnx.optimize`."""

def onnx_rules() -> Any:
    """The steps and rules of the library; see `isoform.onnx.rules`."""

def onnx_save(
    model: Any,
    path: str | PathLike[str],
    *,
    save_as_external_data: Any = ...,
    all_tensors_to_one_file: Any = ...,
    location: Any = ...,
    size_threshold: Any = ...,
    convert_attribute: Any = ...,
    check: Any = ...,
) -> Any:
    """Writes a program to a file; see `isoform.onnx.save`."""

def onnx_summary(model: Any) -> Any:
    """The numbers of a model and their text; see `isoform.onnx.summary`."""

def onnx_summary_of_two(left: Any, right: Any) -> Any:
    """The numbers of two models and their text; see `isoform.onnx.summary`."""

def onnx_to_bytes(model: Any, *, check: Any = ...) -> Any:
    """Encodes a program as a model; see `isoform.onnx.to_bytes`."""

def onnx_verify(
    original: Any,
    optimized: Any,
    *,
    file: Any,
    tolerance: Any,
    seed: int,
    runtime: Any,
    inputs: Any,
    shapes: Any,
) -> Any:
    """Runs two programs on the same inputs; see `isoform.onnx.verify`. Returns the cases, their
    text, and both as they are for a page.
    """

def opaque(value: Any) -> Any:
    """Wraps a Python object as an opaque value, even one that would otherwise be
    converted.
    """

def oracle_canonical(value: Any, map_free_vars: bool = ..., skip_tensor_content: bool = ...) -> Any:
    """A text that is the same for two values exactly if they are structurally equal, in
    this process.

    Raises TypeError for types with custom hooks, ValueError for cycles, RecursionError
    for values nested too deeply.
    """

def oracle_equal(
    lhs: Any, rhs: Any, map_free_vars: bool = ..., skip_tensor_content: bool = ...
) -> bool:
    """The result of the slow oracle, which shares no code with `structural_equal`.

    Raises the same exceptions as `structural_equal`, and RecursionError for values
    nested deeper than a few hundred levels.
    """

def random_module(seed: int, size: int) -> Any:
    """A random `IRModule` of about `size` nodes, the same one for the same seed."""

def random_program(seed: int, size: int) -> Any:
    """A random `pto.Program` of about `size` nodes, the same one for the same seed."""

def read_corpus_files(files: Any, *, follow_links: bool) -> Any:
    """Reads described files, and returns their rows as the bytes of a Parquet file."""

def recursive_eq(lhs: Any, rhs: Any) -> bool:
    """True if two values are equal field by field, whatever their structural kind."""

def recursive_ge(lhs: Any, rhs: Any) -> bool:
    """True if the left value comes after the right one or is equal.

    Raises TypeError for values without an order.
    """

def recursive_gt(lhs: Any, rhs: Any) -> bool:
    """True if the left value comes after the right one, field by field.

    Raises TypeError for values without an order.
    """

def recursive_hash(value: Any) -> int:
    """A hash that agrees with `recursive_eq`."""

def recursive_le(lhs: Any, rhs: Any) -> bool:
    """True if the left value comes before the right one or is equal.

    Raises TypeError for values without an order.
    """

def recursive_lt(lhs: Any, rhs: Any) -> bool:
    """True if the left value comes before the right one, field by field.

    Raises TypeError for values without an order.
    """

def register_class(
    cls: type[Any], type_key: str, parent: type[Any] | None, fields: Any, options: dict[str, Any]
) -> TypeInfo:
    """Registers a class; see `isoform.dataclasses.py_class`, which calls this.

    On an error, nothing is registered, and the class is unchanged.
    """

def registered_type_keys() -> list[str]:
    """The keys of all registered types, sorted."""

def remove_global_func(name: str) -> Any:
    """Removes a function from the registry; does nothing if there is none."""

def repeated_blocks(
    values: Sequence[Any], min_size: int = ..., min_count: int = ...
) -> list[RepeatedBlock]:
    """The blocks of dataflow nodes that occur several times in values, those that save most
    first: the layers of a model, for example.

    Nodes are objects of kind dag. Copies have the same nodes in the same order, apart from the
    elements of tensors, and use each other in the same way; whatever else they use is a
    parameter, and may differ. A block is a run of nodes in the order in which a depth-first
    visit finishes them. Blocks do not overlap, and are not repetitions of smaller ones. They
    are chosen greedily, with bounded work.

    Args:
        values: the programs.
        min_size: the smallest number of nodes in a copy.
        min_count: the smallest number of copies, at least two.

    Raises:
        ValueError: a value contains itself, with the path.

    O(n log² n) for n distinct objects.
    """

def replace_all_uses(root: _T, old: Any, new: Any) -> _T:
    """Returns `root` with all uses of `old` replaced by `new`; `Uses.replace_all` for a root whose
    uses are not known yet.

    Raises what `Uses` and `Uses.replace_all` raise. Linear in the number of distinct objects of
    the root.
    """

def repr_print(value: Any) -> str:
    """The text of a value: `key(field=value, ...)` for nodes, as `repr` shows it.

    Floats are exact, a value inside itself is shown as `...`. O(length).
    """

def rewrite(root: _T, rules: Rule | Sequence[Rule], *, max_steps: int = ...) -> Rewritten[_T]:
    """Applies rules to a value and everything below it, bottom-up, until none applies.

    Replacements are rewritten in turn; if several rules apply, the one with the highest benefit
    is used, and among equals the first.
    Parts without replacements are the same objects in the result, and sharing is kept.
    A binder that would capture a variable of a replacement gets a new variable.

    Raises ValueError if rules were applied more than `max_steps` times; TypeError if a
    replacement does not fit its field; exceptions of guards and functions. Linear in
    the number of distinct objects, before and after, and in the number of attempts; in
    constant native stack.
    """

def rewrite_greedily(
    root: _T, rules: Rule | Sequence[Rule], *, max_steps: int = ..., drop_dead: bool = ...
) -> Rewritten[_T]:
    """Applies rules to a value and everything below it until none applies, and visits again only
    what a replacement may have changed: the greedy pattern rewrite driver.

    Parts come before the objects that hold them. After a replacement, rules are tried on its new
    objects, on the users of what was replaced, as many levels up as the templates are high, and
    on the users of operands that lost a user. With `drop_dead`, definitions without
    effect are dropped when a replacement takes away their last use. Otherwise the result is as
    that of `rewrite`, and rules may also ask for users, look through definitions, and have
    several results.

    Raises ValueError if rules were applied more than `max_steps` times, or a replacement contains
    what is around its place; TypeError if a replacement does not fit its field; exceptions of
    guards and functions. Linear in the number of distinct objects, of attempts, and of users of
    what is replaced; in constant native stack.
    """

def rust_family() -> Any:
    """Registers the node types of the library's own tests, which are declared in Rust, and
    returns their Python classes by name.
    """

def shallow_copy(value: _T) -> _T:
    """Returns a new object with the fields of another one, or the result of the hook
    `__ffi_shallow_copy__` of its type.
    """

def structural_digest(
    value: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: bool = ...,
) -> bytes:
    """The digest of a value, a portable name of 32 bytes: the same on every machine and in every
    release with the same digest format. Equal values have the same digest, and values that
    equality tells apart have different ones.

    There are three exceptions: singletons are named by type and content, a class with its own
    `__s_hash__` distinguishes what the 64 bits that it returns distinguish, and tensors with
    `skip_tensor_content` what their data type and shape do. The names of classes and of their
    compared fields are part of the digest, so it changes when these are renamed or change
    places.

    Args:
        value: the value.
        map_free_vars: whether free variables are equal up to renaming, too.
        skip_tensor_content: name tensors by data type and shape only.
        enable_auto_mapping: another name of `map_free_vars`.

    Raises:
        TypeError: a value that cannot be compared, with its path.
        ValueError: a value contains itself, or something without a portable name, with its
            path: a free variable without `map_free_vars`, or an unbound object as a map key.
        RecursionError: `__s_hash__` methods nest too deeply.

    Linear in the number of distinct objects, and in the bytes of tensors.
    """

def structural_equal(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: bool = ...,
) -> bool:
    """True if two values are structurally equal: the same up to renaming of bound
    variables.

    Args:
        lhs: a value.
        rhs: another value.
        map_free_vars: whether free variables are equal up to renaming, too.
        skip_tensor_content: compare tensors by data type and shape only.
        enable_auto_mapping: another name of `map_free_vars`.

    Raises:
        TypeError: a value that cannot be compared, with its path.
        ValueError: a value contains itself.
        RecursionError: `__s_equal__` methods nest too deeply.

    Linear in the number of distinct pairs of objects.
    """

def structural_hash(
    value: Any,
    map_free_vars: bool = ...,
    skip_tensor_content: bool = ...,
    *,
    enable_auto_mapping: bool = ...,
) -> int:
    """The structural hash of a value, an int of 64 bits without sign. Values that
    are equal under some flags have the same hash under the same flags.

    Args:
        value: the value.
        map_free_vars: whether free variables are equal up to renaming, too.
        skip_tensor_content: hash tensors by data type and shape only.
        enable_auto_mapping: another name of `map_free_vars`.

    Raises:
        TypeError: a value that cannot be compared, with its path.
        ValueError: a value contains itself.
        RecursionError: `__s_hash__` methods nest too deeply.

    Linear in the number of distinct objects.
    """

def structural_key(value: Any) -> Any:
    """Makes a key from a value, an instance of `StructuralKey`."""

def structural_key_equal(this: Any, other: Any) -> Any:
    """True if the other object is an equal key."""

def structural_key_hash(this: Any) -> Any:
    """The hash of a key for tables of this process."""

def structural_key_value(this: Any) -> Any:
    """The value that a key was made from."""

def structural_kinds() -> list[str]:
    """The structural kinds of types that can be compared, by name."""

@overload
def structural_map(
    root: list[_T] | tuple[_T, ...],
    callbacks: _Callbacks = ...,
    with_def_region_kind: _CallbacksOfTwo | None = ...,
    order: int | str | None = ...,
) -> Array[_T]: ...
@overload
def structural_map(
    root: dict[_K, _V],
    callbacks: _Callbacks = ...,
    with_def_region_kind: _CallbacksOfTwo | None = ...,
    order: int | str | None = ...,
) -> Map[_K, _V]: ...
@overload
def structural_map(
    root: _T,
    callbacks: tuple[type[_N], Callable[[_N], Any]],
    with_def_region_kind: _CallbacksOfTwo | None = ...,
    order: int | str | None = ...,
) -> _T: ...
@overload
def structural_map(
    root: _T,
    callbacks: _Callbacks = ...,
    with_def_region_kind: _CallbacksOfTwo | None = ...,
    order: int | str | None = ...,
) -> _T:
    """Rewrites a value: each callback receives the values of its types and returns their
    replacements.

    `callbacks`, `with_def_region_kind` and `order` are as for `structural_walk`. To
    keep a value, a callback returns it. Nothing is changed in place: an object that
    contains a replacement is rebuilt, and everything else is the same object in the
    result. A rebuilt object has the fields of the old one, and not the other attributes that
    somebody set on it in Python. An object that is reached in several ways is rewritten once in each kind of
    region (definition or use), and its result is shared in the same way. In post-order,
    a callback receives a node after its children were replaced; in pre-order, the
    children of its result are visited.

    Raises TypeError if a result does not fit its field or is None for another value (a
    callback without `return`), ValueError for a value that contains itself, and exceptions
    of the callbacks. O(values), in constant native
    stack.
    """

@overload
def structural_mutate(
    root: _T,
    callbacks: tuple[type[_N], Callable[[_N, StructuralMutator], Any]],
    *,
    regions_apart: bool = ...,
) -> _T: ...
@overload
def structural_mutate(
    root: _T, callbacks: _CallbacksOfTwo = ..., *, regions_apart: bool = ...
) -> _T:
    """Rewrites a value with callbacks of a value and a StructuralMutator; see
    `isoform.structural_mutate`.
    """

@overload
def structural_visit(
    root: Any,
    callbacks: tuple[type[_N], Callable[[_N, StructuralVisitor], Any]],
    *,
    regions_apart: bool = ...,
) -> VisitInterrupt | None: ...
@overload
def structural_visit(
    root: Any, callbacks: _CallbacksOfTwo = ..., *, regions_apart: bool = ...
) -> VisitInterrupt | None:
    """Visits a value with callbacks that control what is visited below their values.

    `callbacks` is as for `structural_walk`, but each function receives the value and a
    StructuralVisitor: `visitor.visit(child)` continues below the value,
    `visitor.default_visit(value)` visits all its children, and without either, nothing
    below it is visited. Values without a callback are traversed. An object is visited
    once in each kind of region, or only once without `regions_apart`. Returns None, or
    the VisitInterrupt that a callback returned.

    Raises TypeError for any other result, ValueError for a value that contains itself,
    RecursionError if callbacks nest too deeply, and exceptions of callbacks.
    """

@overload
def structural_walk(
    root: Any,
    callbacks: tuple[type[_N], Callable[[_N], Any]],
    with_def_region_kind: _CallbacksOfTwo | None = ...,
    order: int | str | None = ...,
) -> VisitInterrupt | None: ...
@overload
def structural_walk(
    root: Any,
    callbacks: _Callbacks = ...,
    with_def_region_kind: _CallbacksOfTwo | None = ...,
    order: int | str | None = ...,
) -> VisitInterrupt | None:
    """Visits every value below a root, the root included, and calls the first
    callback that was given for its type.

    `callbacks` is a function of the value, a pair of a type (or a tuple of types) and a
    function, or a sequence of such pairs. The functions in `with_def_region_kind` also
    receive the kind of region. A callback returns None, a WalkResult, or a
    VisitInterrupt, which ends the walk and is its result. Shared objects are visited
    once, where they are met first; with `with_def_region_kind`, once in each kind of
    region: a variable where it is defined and where it is used. Keys of maps and fields
    that comparison ignores are not visited. `order` is "post" (children first) or
    "pre".

    Raises TypeError for any other result, ValueError for a value that contains itself,
    and exceptions of the callbacks. O(values), in constant native stack.
    """

@overload
def substitute(root: list[_T] | tuple[_T, ...], replacements: Mapping[Any, Any]) -> Array[_T]: ...
@overload
def substitute(root: dict[_K, _V], replacements: Mapping[Any, Any]) -> Map[_K, _V]: ...
@overload
def substitute(root: _T, replacements: Mapping[Any, Any]) -> _T:
    """Replaces the free occurrences of variables in a value, all at once and
    without capture.

    `replacements` maps variables (by identity) to their replacements. If a binder would
    capture a variable of a replacement, the binder gets a new variable. If no variable
    occurs free, the result is the same object. A rebuilt object has the fields of the old
    one, and not the other attributes that somebody set on it in Python.

    Raises TypeError if a key is not a variable or a replacement does not fit its field,
    ValueError for a value that contains itself. Linear in the number of distinct
    objects as long as each variable is bound once.
    """

def subterm_classes(
    value: Any,
    map_free_vars: bool = ...,
    *,
    sharing: bool = ...,
    mutable_by_identity: bool = ...,
    confirm: bool = ...,
) -> SubtermClasses:
    """The class of every subterm of a value, found in one walk.

    Two subterms have the same class if and only if they are structurally equal as values of
    their own. Compiler passes ask this to share equal computations, to find clones or to
    number values.

    Args:
        value: the value; objects in it, containers and keys of maps are subterms.
        map_free_vars: whether free variables of a subterm are equal up to renaming, as for
            clones; otherwise they match by identity, as for sharing computations.
        sharing: whether dag objects are equal only if they are shared in the same way;
            otherwise they are compared by contents. Subterms with several equal dag objects
            are then compared as a whole, which is quadratic in their depth.
        mutable_by_identity: whether lists, dicts and objects with mutable fields (those of
            classes that are not frozen) are only equal to themselves, so that classes stay
            right whatever is written later; otherwise their contents at this moment count.
        confirm: whether comparison checks every member of a class, instead of a hash of 64
            bits; it also separates dag objects that are shared in different ways.

    Raises:
        ValueError: a value contains itself, with the path.

    O(n log n) for n distinct objects; linear unless many variables are in use at a time.
    """

def to_bytes(obj: Any) -> bytes:
    """Writes a value in the compact binary form, with version and checksum.

    Raises the same exceptions as `to_json_graph_str`. O(size).
    """

def to_json_graph_str(obj: Any, metadata: Any = ...) -> str:
    """Writes a value as a JSON graph, which keeps sharing.

    `metadata` is JSON data that is written next to the nodes. Raises TypeError for a
    value that files cannot store, ValueError for one that contains itself, both with
    the path. O(size).
    """

def to_text(obj: Any, options: dict[str, Any]) -> str:
    """The text of a value.

    `options` are those of `isoform.text.to_text`, by name.
    """

def type_attrs_check(of: Any, name: Any, value: Any) -> None:
    """Raises the exceptions of setting an attribute, without setting it."""

def type_attrs_declare(name: str, doc: str, schema: Schema | None, dense: bool) -> None:
    """Declares an attribute; see `isoform.type_attrs.declare`."""

def type_attrs_declare_dense(name: Any) -> None:
    """Moves an attribute to the hot tier; see `isoform.type_attrs.declare_dense`."""

def type_attrs_get(of: Any, name: Any, default: Any, inherit: bool) -> Any:
    """The attribute of a type or of the type of a node; see
    `isoform.type_attrs.get`.
    """

def type_attrs_has(of: Any, name: Any, inherit: bool) -> bool:
    """True if an attribute is set; see `isoform.type_attrs.has`."""

def type_attrs_hooks() -> list[str]:
    """The names of the attributes that the library itself reads."""

def type_attrs_info(name: Any) -> dict[str, Any] | None:
    """The declaration of an attribute; see `isoform.type_attrs.info`."""

def type_attrs_list() -> list[str]:
    """The names of all attributes; see `isoform.type_attrs.list`."""

def type_attrs_of(of: Any, inherit: bool) -> dict[str, Any]:
    """The attributes of a type; see `isoform.type_attrs.attrs_of`."""

def type_attrs_owner(of: Any, name: Any) -> type[Any] | None:
    """The type that has an attribute; see `isoform.type_attrs.owner`."""

def type_attrs_place(of: Any) -> TypeInfo:
    """The type to change, by its class, key or `TypeInfo`.

    Raises TypeError for anything else, KeyError for an unknown key.
    """

def type_attrs_set(of: Any, name: Any, value: Any, replace: bool) -> None:
    """Sets an attribute of a type; see `isoform.type_attrs.set`."""

def type_info(of: Any) -> TypeInfo:
    """The registration of a type, by its key, its class or one of its objects.

    Raises KeyError for an unknown key, TypeError for anything that does not identify a
    type.
    """

def update_corpus(
    roots: Any, index: Any, *, jobs: Any, follow_links: bool, progress: Any
) -> CorpusReport:
    """Makes or updates an index on this machine. `progress` is called with the numbers so far,
    several times a second; an exception of it, and Ctrl-C, end the update.
    """

def verify(root: Any) -> list[tuple[AccessPath, Exception]]:
    """Runs the `__verify__` methods of all nodes of a value, and lists all failures as
    pairs of a path and an exception.

    Exceptions that are not an `Exception`, such as KeyboardInterrupt, are raised at
    once.
    """

def with_fields(obj: Any, changes: Any) -> Any:
    """Returns a copy of an object with some of its fields replaced; the constructor is not
    run. The other fields are those of the copy that the hook `__ffi_shallow_copy__` of
    its type makes, if there is one.

    Raises TypeError for an unknown field or a value that does not fit.
    """
