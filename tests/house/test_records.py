"""Records are the standard library's data classes, made later."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import field
from functools import cached_property
from types import FunctionType

import pytest

from symgen import records

WAYS = {"standard": dataclasses.dataclass, "late": records.dataclass}


class Plain:
    """Fields of all kinds."""

    a: int
    b: list = field(default_factory=list)
    c: float = field(default=1.5, compare=False)
    d: str = field(default="d", repr=False)
    e: int = field(default=7, init=False)
    f: int = field(default=3, kw_only=True, hash=False)


class One:
    """A field, from which another comes."""

    x: int
    twice: int = field(init=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "twice", 2 * self.x)


class None_:
    """No field."""


class Own:
    """With methods of its own."""

    x: int

    def __eq__(self, other):
        return isinstance(other, Own)

    def __repr__(self):
        return f"<{self.x}>"


OPTIONS = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "eq": False, "repr": False},
]
CALLS = {
    Plain: [((1,), {}), ((1, [2]), {"f": 4}), ((1, [2], 0.5, "x"), {})],
    One: [((1,), {}), ((2,), {})],
    None_: [((), {})],
    Own: [((1,), {}), ((2,), {})],
}


def both(given, options):
    """A class made in both ways."""
    parts = {k: v for k, v in vars(given).items() if k not in ("__dict__", "__weakref__")}
    return [way(**options)(type(given.__name__, (), dict(parts))) for way in WAYS.values()]


def outcome(call):
    """What a call gives, or how it fails."""
    try:
        return call()
    except (TypeError, AttributeError) as error:
        return type(error), str(error)


def same(calls):
    one, other = calls
    assert outcome(one) == outcome(other)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("given", CALLS)
def test_it_makes_the_same_class(given, options):
    classes = both(given, options)
    same([lambda c=c: str(inspect.signature(c)) for c in classes])
    same([lambda c=c: c("too", "many", 3, 4, 5, 6, 7) for c in classes])
    same([lambda c=c: c.__match_args__ for c in classes])
    rows = [[c(*args, **more) for args, more in CALLS[given]] for c in classes]
    for one, other in zip(*rows, strict=True):
        if options.get("repr", True):
            same([lambda x=x: repr(x) for x in (one, other)])
        same([lambda x=x: dataclasses.asdict(x) for x in (one, other)])
        same([lambda x=x: dataclasses.asdict(copy.deepcopy(x)) for x in (one, other)])
        names = [f.name for f in dataclasses.fields(one)]
        if not options.get("slots"):  # with which Python 3.11 has another error for what is none
            names.append("unknown")
        for name in names:
            same([lambda x=x, name=name: setattr(x, name, 5) for x in (one, other)])
            same([lambda x=x, name=name: delattr(x, name) for x in (one, other)])
            same([lambda x=x, name=name: setattr(x, name, 6) for x in (one, other)])
        same([lambda x=x: hasattr(x, "__dict__") for x in (one, other)])
        if options.get("eq", True):
            same([lambda x=x: hash(x) for x in (one, other)])
    for x in range(len(rows[0])):
        for y in range(len(rows[0])):
            same([lambda row=row, x=x, y=y: row[x] == row[y] for row in rows])


def test_methods_are_made_when_they_are_needed():
    made = records.dataclass(frozen=True)(type("Late", (), {"__annotations__": {"x": int}}))
    assert not isinstance(vars(made)["__init__"], FunctionType)
    assert made(1).x == 1
    assert isinstance(vars(made)["__init__"], FunctionType)


@records.dataclass(frozen=True, slots=True)
class Base:
    """One that others derive from."""

    x: int


@records.dataclass(frozen=True)
class Derived(Base):
    """Kept values stay possible, as assignments of no field's are by classes that derive."""

    y: int = 2

    @cached_property
    def z(self):
        return self.x + self.y


class Further(Derived):
    """No record itself."""


def test_records_derive_from_records():
    x = Derived(1)
    assert (x.z, repr(x), x == Derived(1, 2), x == Base(1)) == (3, "Derived(x=1, y=2)", True, False)
    assert dataclasses.replace(x, y=5).z == 6
    for other in (Base(3), x, Further(4)):
        assert pickle.loads(pickle.dumps(other)) == other
    further = Further(4)
    further.free = 1
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        further.x = 1


def test_a_record_that_holds_itself_is_shown():
    holder = records.dataclass(type("Holder", (), {"__annotations__": {"x": list}}))([])
    holder.x.append(holder)
    assert repr(holder) == "Holder(x=[...])"
