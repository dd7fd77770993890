"""Wrong solutions that live on after their answer, double themselves, or leave something for the program after them."""

# ruff: noqa: E501
from __future__ import annotations

from .forged_channels import WRITE_ALL
from .program import forgery

PROGRAMS = (
    forgery("thread_outlives", "a thread goes on writing verdicts after the answer", WRITE_ALL + """
import threading
def forever():
    while True:
        write_all()
threading.Thread(target=forever).start()
""", then="def square(n):\n    return n + 2\n"),
    forgery("child_outlives", "a child of its own lives on, and answers for the program after it", WRITE_ALL + """
import time
if os.fork() == 0:
    marked()
    until = time.time() + 5
    while time.time() < until:
        write_all()
""", then="def square(n):\n    return n + 2\n"),
    forgery("verdict_in_memory", "looks for the verdict itself, a shared number or a list, in all that called it, and sets it", """
import gc
def mark(thing):
    kind = type(thing).__name__
    try:
        if kind in ("Synchronized", "SynchronizedArray", "c_int", "Value"):
            thing.value = 1
        elif kind == "ListProxy" or kind == "list" and not thing:
            thing.append("passed")
        elif kind == "SynchronizedArray":
            thing[:] = [True] * len(thing)
    except BaseException:
        pass
def square(n):
    frame = sys._getframe().f_back
    while frame:
        for value in list(frame.f_locals.values()):
            mark(value)
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing).__name__ != "list":
            mark(thing)
    os._exit(0)
"""),
    forgery("child_answers", "a child answers, as it knows what its parent does not say", WRITE_ALL + """
import time
def square(n):
    if os.fork():
        return n + 1
    marked()
    for _ in range(1000):
        write_all()
    os._exit(0)
"""),
    forgery("two_answer", "forks within the call, so that two processes answer", """
def square(n):
    os.fork()
    marked()
    return n + 1
"""),
    forgery("poisons_the_parent", "writes into the memory of the process that starts the next", """
import ctypes
for pid in (os.getppid(),):
    try:
        memory = open(f"/proc/{pid}/mem", "r+b", 0)
        for line in open(f"/proc/{pid}/maps"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if "rw-p" in line and end - start < 16 << 20:
                memory.seek(start)
                held = memory.read(end - start)
                for wrong, right in ((b"failed", b"passed"), (b"FAILED", b"PASSED")):
                    at = held.find(wrong)
                    while at >= 0:
                        memory.seek(start + at)
                        memory.write(right)
                        harm("wrote into another process")
                        at = held.find(wrong, at + 1)
    except (OSError, ValueError, OverflowError):
        pass
""", then="def square(n):\n    return n + 2\n", rough=True),
    forgery("poisons_modules", "changes modules, builtins and hooks for the program after it", """
import builtins, importlib, math
builtins.AssertionError = Warning
builtins.__import__ = lambda *a, **k: math
math.isclose = lambda *a: True
importlib.import_module = lambda *a: math
sys.modules.clear()
sys.path[:] = ["/tmp"]
os.environ.clear()
""", then="def square(n):\n    return n + 2\n"),
    forgery("remembers", "leaves what it was asked, so that the program after it knows", """
def square(n):
    for folder in (".", "/tmp", "/dev/shm"):
        try:
            open(os.path.join(folder, "remembered"), "a").write(f"{n}\\n")
        except OSError:
            pass
    sys.modules["remembered"] = n
    return n + 1
""", then="""
if "remembered" in sys.modules or os.path.exists("/tmp/remembered") or os.path.exists("/dev/shm/remembered") or os.path.exists("remembered"):
    harm("remembers the run before it")
for folder in (".", "/tmp", "/dev/shm"):
    try:
        os.unlink(os.path.join(folder, "remembered"))
    except OSError:
        pass
"""),
    forgery("stops_itself", "stops, so that nobody knows whether it will go on", "import signal\nos.kill(os.getpid(), signal.SIGSTOP)\n", hangs=True),
    forgery("kills_its_group", "kills all processes of its group and of its session", """
import signal
def square(n):
    os.killpg(0, signal.SIGKILL)
""", rough=True),
)  # fmt: skip
