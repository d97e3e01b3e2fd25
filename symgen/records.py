"""Classes of records: `dataclasses.dataclass` with methods that are made when they are needed.

The standard decorator compiles up to six functions for each class while it is loaded. With the two
hundred classes of a command that is a fifth of its start, and most are never called. This one takes
the same arguments, as far as they are in use here, and makes the same class: what can do without
the names of fields in its code is a closure, and ``__init__`` is compiled, by the standard
decorator, for a class that objects are made of."""

import dataclasses
from collections.abc import Callable, Mapping
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, repr=True):
        """The class with the methods that `dataclasses.dataclass` gives it."""

        def made(given):
            own = given.__dict__
            new = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(given)
            for name, method in _methods(new, frozen, slots, eq, repr).items():
                if own.get(name) is None:  # with __eq__ of its own Python notes that it has no hash
                    setattr(new, name, method)
            return new

        return made if cls is None else made(cls)


def _methods(cls: Any, frozen: bool, slots: bool, eq: bool, repr: bool) -> Mapping[str, Any]:
    methods: dict[str, Any] = {"__init__": _LateInit(cls, frozen, slots)}
    if repr:
        methods["__repr__"] = _representation(cls)
    if eq:
        methods |= _comparison(cls, frozen)
    if frozen:
        methods |= _refusals(cls)
    return methods | _SLOTTED if frozen and slots else methods


class _LateInit:
    """Stands for ``__init__`` of a class until that is asked for."""

    def __init__(self, cls: Any, frozen: bool, slots: bool) -> None:
        self.cls, self.frozen, self.slots = cls, frozen, slots

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        cls = self.cls
        twin: Any = dataclasses.make_dataclass(
            cls.__name__,
            [(f.name, f.type, f) for f in dataclasses.fields(cls)],
            namespace={"__post_init__": None} if hasattr(cls, "__post_init__") else {},
            repr=False,
            eq=False,
            frozen=self.frozen,
            slots=self.slots,
        )
        init = twin.__init__
        init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
        cls.__init__ = init
        return init.__get__(instance, owner)


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of some fields of an object."""
    return attrgetter(*names) if len(names) > 1 else lambda x: tuple(getattr(x, n) for n in names)


def _representation(cls: Any) -> Callable[[Any], str]:
    names = tuple(f.name for f in dataclasses.fields(cls) if f.repr)

    @recursive_repr()
    def shown(self: Any) -> str:
        texts = (f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({', '.join(texts)})"

    return shown


def _comparison(cls: Any, frozen: bool) -> dict[str, Any]:
    """Equality, and a hash of what never changes; none of what may."""
    fields = dataclasses.fields(cls)
    compared = _values(tuple(f.name for f in fields if f.compare))
    hashed = _values(tuple(f.name for f in fields if (f.compare if f.hash is None else f.hash)))

    def equal(self: Any, other: Any) -> Any:
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    return {"__eq__": equal, "__hash__": (lambda self: hash(hashed(self))) if frozen else None}


def _refusals(cls: Any) -> dict[str, Any]:
    """What keeps the fields of an object as they are."""
    names = frozenset(f.name for f in dataclasses.fields(cls))

    def refuse(self: Any, name: str, what: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")

    def assign(self: Any, name: str, value: Any) -> None:
        refuse(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        refuse(self, name, "delete")
        super(cls, self).__delattr__(name)

    return {"__setattr__": assign, "__delattr__": delete}


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _restored(self: Any, state: list[Any]) -> None:
    for f, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)


_SLOTTED: Final = {"__getstate__": _state, "__setstate__": _restored}
"""How objects that have no dictionary and refuse assignments are copied."""
