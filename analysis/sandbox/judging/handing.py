"""Which functions of a test a program may be given.

A function that a test hands over runs in the judge, on what the program passes to it. If the program also chooses which attributes it
reads (`getattr`, `str.format`), it reads all that the judge holds, the expected values too. A test that hands over such a function can't
judge.
"""

from __future__ import annotations

import builtins
import collections
import functools
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
        return _refusal(function.__func__, file, seen)
    if kind is functools.partial:
        return next(filter(None, (_refusal(part, file, seen) for part in (function.func, *function.args) if callable(part))), "")
    if kind is operator.itemgetter:
        return ""
    name = getattr(function, "__name__", kind.__name__)
    if kind in (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType):
        return "" if name not in READERS and _is_of_data(function) else f"{name} of Python itself"
    call = next((vars(base)["__call__"] for base in kind.__mro__ if "__call__" in vars(base)), None)
    made_by_test = type(call) is FunctionType and call.__code__.co_filename == file
    return _refusal(call, file, seen) if made_by_test else f"{name}, which is no function of its own"


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
    held = [function.__globals__[name] for name in sorted(names) if name in function.__globals__]
    held += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    held += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for value in held:
        if type(value) is ModuleType and value.__name__.partition(".")[0] in _MODULES:
            return f"{function.__name__}, which uses {value.__name__}"
        if type(value) in (FunctionType, MethodType, BuiltinFunctionType, functools.partial) and (why := _used(value, file, seen)):
            return f"{function.__name__}, by {why}"
    return ""


def _used(value: Any, file: str, seen: set[int]) -> str:
    """Why a function of the test may not use another one. What Python itself has it may, but for the readers."""
    if type(value) is FunctionType and value.__code__.co_filename != file:
        return value.__name__ if value.__name__ in READERS else ""
    if type(value) is BuiltinFunctionType:
        return value.__name__ if value.__name__ in READERS else ""
    return _refusal(value, file, seen)


def _names(code: CodeType) -> set[str]:
    """The names of variables and attributes that code uses, with those of the functions inside it."""
    inside = (_names(constant) for constant in code.co_consts if type(constant) is CodeType)
    return set(code.co_names).union(*inside)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # a variable that has no value yet
        return False
