from __future__ import annotations

import collections
import contextlib
import copy
import datetime
import decimal
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.sandbox.judging.values import MAX_BYTES, MAX_DEPTH, Malformed, Unencodable, content, decode, encode, refill


def refer(value: object) -> tuple[str, int, str]:
    raise Unencodable(f"a {type(value).__name__}")


def resolve(owner: str, number: int, name: str) -> object:
    raise Malformed("no objects here")


def there_and_back(value: object) -> Any:
    return decode(encode(value, [], refer), [], resolve)


def identical(a: Any, b: Any) -> bool:
    """Equal with the same types all the way down, and with the same bits of floats."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b)
    if isinstance(a, complex):
        return identical(a.real, b.real) and identical(a.imag, b.imag)
    if isinstance(a, list | tuple | collections.deque):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dict):
        return len(a) == len(b) and all(map(identical, a.items(), b.items()))
    if isinstance(a, set | frozenset):
        return len(a) == len(b) and all(any(identical(x, y) for y in b) for x in a)
    return bool(a == b)


scalars = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True), st.complex_numbers(), st.text(st.characters())),
    *(st.binary(max_size=20), st.fractions(), st.decimals(allow_nan=False), st.dates(), st.times(), st.datetimes(), st.timedeltas()),
    *(st.just(...), st.builds(range, st.integers(), st.integers(), st.integers(1, 9))),
)
hashables = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3), max_leaves=5)
values = st.recursive(
    hashables | st.binary().map(bytearray),
    lambda inner: st.one_of(
        *(st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.lists(inner, max_size=4).map(collections.deque)),
        *(st.dictionaries(hashables, inner, max_size=4), st.dictionaries(hashables, inner, max_size=3).map(collections.OrderedDict)),
        *(st.sets(hashables, max_size=4), st.lists(st.integers(), min_size=4), st.lists(st.floats(), min_size=4)),
        *(st.lists(st.text(st.characters()), min_size=4), st.lists(st.integers(-9, 9) | st.floats() | st.booleans(), min_size=4)),
    ),
    max_leaves=12,
)


@given(values)
def test_a_value_comes_back_the_same_to_the_bit(value: Any) -> None:
    assert identical(there_and_back(value), value)


@given(values)
def test_a_container_refilled_from_anothers_content_holds_the_same(value: Any) -> None:
    if isinstance(value, list | dict | set | bytearray | collections.deque):
        other = type(value)()
        refill(other, content(value))
        assert identical(other, value)


def test_what_json_would_lose_is_kept() -> None:
    for value in (-0.0, math.inf, 10**4000, -(2**63), 2**63, "\ud800", b"\xff", {1: True, "1": 1}, {(1, 2): {3}}, [0.1] * 9 + [1]):
        assert identical(there_and_back(value), value)
    assert math.isnan(there_and_back(math.nan))
    assert identical(there_and_back(collections.Counter("aab")), collections.Counter("aab"))
    assert there_and_back(slice(1, None, 2)) == slice(1, None, 2)
    assert there_and_back({1: 2}.keys()) == {1}
    assert list(there_and_back({1: 2}.values())) == [2]
    assert there_and_back({1: 2}.items()) == {(1, 2)}
    assert there_and_back([int, ValueError]) == [int, ValueError]
    assert there_and_back(decimal.Decimal("1.10")).as_tuple() == decimal.Decimal("1.10").as_tuple()
    zoned = datetime.datetime(2020, 1, 2, 3, 4, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))
    assert there_and_back(zoned).isoformat() == zoned.isoformat()


def test_what_is_shared_stays_shared_and_loops_stay_loops() -> None:
    inner: list[Any] = [1]
    left, right = there_and_back([inner, inner])
    assert left is right
    loop: list[Any] = []
    loop.append({"self": (loop, 2)})
    back = there_and_back(loop)
    assert back[0]["self"][0] is back
    many: Any = ()
    for _ in range(100):
        many = (many, many)
    assert len(encode(many, [], refer)) < 2000
    pair = (1, 2)
    first, second = there_and_back([pair, pair])
    assert first is second


def test_containers_that_both_sides_know_are_named_by_number() -> None:
    known: list[Any] = [[1, 2], {3: 4}]
    back = decode(encode([known[1], known[0]], list(known), refer), list(known), resolve)
    assert back[0] is known[1]
    assert back[1] is known[0]


class AlwaysEqual(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __pos__(self) -> int:
        raise AssertionError

    __index__ = __int__ = __pos__


class Text(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def encode(self, *_: object) -> bytes:
        return b"forged"

    def __str__(self) -> str:
        return "forged"


class Items(list[int]):
    def __iter__(self) -> Any:
        return iter([7])

    def __len__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_a_subclass_of_a_builtin_travels_as_what_it_holds_whatever_its_methods_say() -> None:
    for value, plain in [
        (AlwaysEqual(5), 5),
        (Text("honest"), "honest"),
        (Items([1, 2]), [1, 2]),
        (AlwaysEqual(1 << 80), 1 << 80),
    ]:
        back = there_and_back(value)
        assert type(back) is type(plain)
        assert plain == back


def test_an_object_of_another_class_is_a_reference_with_its_owner() -> None:
    thing = object()
    sent = encode([thing, thing], [], lambda value: ("P", 7, type(value).__name__))
    seen: list[tuple[str, int, str]] = []
    decode(sent, [], lambda *reference: seen.append(reference))
    assert seen == [("P", 7, "object")] * 2


def test_what_is_too_deep_or_too_large_is_refused_where_it_is_written() -> None:
    deep: list[Any] = []
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    there_and_back(deep)
    with pytest.raises(Unencodable, match="deep"):
        encode([deep], [], refer)
    with pytest.raises(Unencodable, match="MiB"):
        encode(b"x" * MAX_BYTES, [], refer)


@given(st.binary(max_size=60))
def test_bytes_that_are_no_value_are_refused_and_nothing_else_happens(data: bytes) -> None:
    with contextlib.suppress(Malformed):
        decode(data, [], resolve)


@given(values, st.data())
def test_a_value_with_a_byte_changed_is_a_value_or_refused(value: Any, data: st.DataObject) -> None:
    sent = bytearray(encode(value, [], refer))
    sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(Malformed):
        decode(bytes(sent), [], resolve)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"a":1}',
        b"[[]]",
        b'["?"]',
        b'["l",' * (MAX_DEPTH + 1) + b"null" + b"]" * (MAX_DEPTH + 1),
        b"[" * 200_000,
        b'["u",["R",0]]',  # a tuple inside itself
        b'["e",["l"]]',  # a list in a set
        b'["m",["l"],null]',  # a list as a key
        b'["R",-1]',
        b'["t","eval"]',
        b'["A","eval"]',
        b'["P",0,""]',
        b'"\xff"',
        b'["y","1e999999999"]',  # a number of a thousand million digits
        b'["x","z"]',
    ],
    ids=lambda data: data[:20].decode(errors="replace"),
)
def test_hostile_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode(data, [], resolve)


def test_only_types_come_by_name_never_functions() -> None:
    with pytest.raises(Unencodable):
        encode(eval, [], refer)
    assert there_and_back(complex) is complex


def test_a_content_that_does_not_fit_its_container_is_refused() -> None:
    for container, held in (([], {}), ({}, ((1,),)), ({}, ("ab", 1)), (set(), ([],)), (bytearray(), (1,)), ((), (1,))):
        with pytest.raises(Malformed):
            refill(copy.copy(container), held)
