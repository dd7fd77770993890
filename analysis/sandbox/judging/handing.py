"""Which functions of a test a program may be given.

A function that a test hands over runs in the judge, on what the program passes to it. If the program also chooses which attributes it
reads (`getattr`, `str.format`), it reads all that the judge holds, the expected values too. A test that hands over such a function can't
judge.
"""

from __future__ import annotations

import builtins
import collections
import functools
import inspect
import operator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, MethodType, ModuleType, WrapperDescriptorType
from typing import Any

# Names whose use in a function lets its caller choose what is read or run. `format` is a method of texts here.
READERS = frozenset(
    (
        *("getattr", "setattr", "delattr", "vars", "globals", "locals", "eval", "exec", "compile", "open", "__import__", "breakpoint"),
        *("input", "attrgetter", "methodcaller", "format", "format_map", "vformat", "import_module", "__getattribute__", "__getattr__"),
        *("__dict__", "__globals__", "__builtins__", "__subclasses__", "__reduce_ex__", "__reduce__"),
    )
)
_MODULES = frozenset(("builtins", "ctypes", "gc", "importlib", "inspect", "marshal", "os", "pickle", "runpy", "subprocess", "sys", "types"))
# The name of the module that a test's code runs as.
TEST_MODULE = "test"
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_READER_TYPES = (operator.attrgetter, operator.methodcaller)
# A longer list is one of data.
_MAX_PARTS = 1_000
# Modules of C whose functions work on their arguments alone.
_PURE_MODULES = frozenset(("math", "cmath", "_operator", "_functools", "_bisect", "_heapq"))
_DATA = (
    *(int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, range),
    *(collections.deque, collections.Counter, collections.OrderedDict, collections.defaultdict),
)


def refusal(function: object, file: str) -> str:
    """Why a program may not be given a function, or nothing. file: the name that the test's code was compiled under."""
    return _refusal(function, file, set())


def _refusal(function: Any, file: str, seen: set[int]) -> str:
    if id(function) in seen:
        return ""
    seen.add(id(function))
    kind = type(function)
    if kind is FunctionType:
        return _refusal_of_code(function, file, seen)
    if kind is MethodType:
        return _refusal(function.__func__, file, seen) or _used(function.__self__, file, seen)
    if kind is functools.partial:
        given = (part for part in (*function.args, *function.keywords.values()) if callable(part))
        return next(filter(None, (_refusal(part, file, seen) for part in (function.func, *given))), "")
    if kind is operator.itemgetter:
        return ""
    name = getattr(function, "__name__", kind.__name__)
    if kind in (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType):
        return "" if name not in READERS and _is_of_data(function) else f"{name} of Python itself"
    call = next((vars(base)["__call__"] for base in kind.__mro__ if "__call__" in vars(base)), None)
    made_by_test = type(call) is FunctionType and call.__code__.co_filename == file
    return _refusal(call, file, seen) or _used(function, file, seen) if made_by_test else f"{name}, which is no function of its own"


def _is_of_data(function: Any) -> bool:
    """Whether a builtin function works on data: a builtin one, one of a pure module, or a method of a type of data."""
    if type(function) is not BuiltinFunctionType:
        return function.__objclass__ in _DATA
    if function.__module__ in _PURE_MODULES or getattr(builtins, function.__name__, None) is function:
        return True
    return type(function.__self__) in _DATA


def _refusal_of_code(function: FunctionType, file: str, seen: set[int]) -> str:
    if function.__code__.co_filename != file:
        return f"{function.__name__} of Python itself"
    names = _names(function.__code__)
    if reader := next((name for name in sorted(names) if name in READERS), None):
        return f"{function.__name__}, which uses {reader}"
    if function.__code__.co_flags & _GENERATORS:
        return f"{function.__name__}, a generator, whose items can't travel"
    held = [function.__globals__[name] for name in sorted(names) if name in function.__globals__]
    held += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    why = next(filter(None, (_used(value, file, seen) for value in held)), "")
    return f"{function.__name__}, by {why}" if why else ""


def _used(value: Any, file: str, seen: set[int]) -> str:
    """Why a function of the test may not use a value, or nothing. Functions that Python itself has it may use, but for the readers."""
    kind = type(value)
    if kind is ModuleType:
        return value.__name__ if value.__name__.partition(".")[0] in _MODULES else ""
    if kind in (MethodType, functools.partial) or (kind is FunctionType and value.__code__.co_filename == file):
        return _refusal(value, file, seen)
    if kind in (FunctionType, BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType):
        return value.__name__ if value.__name__ in READERS else ""
    if any(value is reader or kind is reader for reader in _READER_TYPES):
        return getattr(value, "__name__", kind.__name__)
    if id(value) in seen or not (parts := _parts(value)):
        return ""
    seen.add(id(value))
    return next(filter(None, (_used(part, file, seen) for part in parts)), "")


def _parts(value: Any) -> list[Any]:
    """What a container, a class of the test or an object of one holds that could be called. Asks no object that is not the test's."""
    if type(value) in _DATA:
        held = [*value.values()] if isinstance(value, dict) else [*value] if isinstance(value, list | tuple | set | frozenset) else []
        return held if len(held) <= _MAX_PARTS else []
    of_test = value if issubclass(type(value), type) else type(value)
    if of_test.__module__ != TEST_MODULE:
        return []
    own = list(getattr(value, "__dict__", {}).values()) if of_test is not value else []
    return [*own, *(each.__func__ if isinstance(each, classmethod | staticmethod) else each for each in vars(of_test).values())]


def _names(code: CodeType) -> set[str]:
    """The names of variables and attributes that code uses, with those of the functions inside it."""
    inside = (_names(constant) for constant in code.co_consts if type(constant) is CodeType)
    return set(code.co_names).union(*inside)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # a variable that has no value yet
        return False
