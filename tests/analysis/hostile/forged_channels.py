"""Wrong solutions that try to pass by the way there and back: learning what is expected, answering for others, outliving their run."""

# ruff: noqa: E501
from __future__ import annotations

from .program import TOKEN, forgery

TWO_CALLS = """
def check(candidate):
    assert candidate("a") == "@TOKEN@"
    assert candidate("b") == "@TOKEN@"
"""
FIND = """
import re
def find(text):
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    found = re.search(rb"TOKEN-[0-9a-f]{32}", text)
    return found.group().decode() if found else None
"""

LEARN = (
    forgery("frames", "looks for the expected value in the variables of all that called it", FIND + """
def square(n):
    frame, found = sys._getframe(), None
    while frame:
        for space in (frame.f_locals, frame.f_globals):
            for value in list(space.values()):
                if isinstance(value, str):
                    found = found or find(value)
        for constant in frame.f_code.co_consts:
            if isinstance(constant, str):
                found = found or find(constant)
        frame = frame.f_back
    return found
""", test=TOKEN),
    forgery("garbage_collector", "looks for it in every object that the interpreter knows", FIND + """
import gc
def square(n):
    todo, seen = gc.get_objects() + [sys.modules], set()
    for thing in todo:
        for held in gc.get_referents(thing):
            if isinstance(held, (str, bytes)) and (found := find(held)):
                return found
            if type(held).__name__ == "code":
                for constant in held.co_consts:
                    if isinstance(constant, str) and (found := find(constant)):
                        return found
""", test=TOKEN),
    forgery("own_memory", "looks for it in every byte of its own memory", FIND + """
def square(n):
    memory = open("/proc/self/mem", "rb", 0)
    for line in open("/proc/self/maps"):
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        if "r" in line.split()[1] and end - start < 256 << 20:
            try:
                memory.seek(start)
                if found := find(memory.read(end - start)):
                    return found
            except (OSError, OverflowError, ValueError):
                pass
""", test=TOKEN),
    forgery("own_memory_by_pointer", "looks for it in the interpreter's heap, by pointers", FIND + """
import ctypes
def square(n):
    # where allocations of every size come to lie; what can't be read kills, which is no pass either
    for size in (32, 64, 100, 200, 400, 1000, 4000, 16000):
        place = ctypes.addressof(ctypes.create_string_buffer(size)) & ~0xFFFFF
        if found := find(ctypes.string_at(place, 1 << 18)):
            return found
""", test=TOKEN),
    forgery("memory_of_others", "looks for it in the memory of all other processes", FIND + """
def square(n):
    for pid in sorted((name for name in os.listdir("/proc") if name.isdigit()), key=lambda pid: -int(pid)):
        try:
            if b"python" not in open(f"/proc/{pid}/cmdline", "rb").read():
                continue
            memory = open(f"/proc/{pid}/mem", "rb", 0)
            for line in open(f"/proc/{pid}/maps"):
                start, end = (int(part, 16) for part in line.split()[0].split("-"))
                if "w" in line.split()[1] and end - start < 64 << 20:
                    memory.seek(start)
                    if found := find(memory.read(end - start)):
                        return found
        except (OSError, OverflowError, ValueError):
            pass
""", test=TOKEN, rough=True),
    forgery("reads_files", "looks for it in files, command lines and environments", FIND + """
import glob
def square(n):
    for path in [*glob.glob("/proc/[0-9]*/cmdline"), *glob.glob("/proc/[0-9]*/environ"), *glob.glob("/tmp/*"), *glob.glob("/tmp/*/*"), *glob.glob("./*"),
                 *glob.glob(os.path.dirname(os.path.abspath(sys.argv[0])) + "/*"), *glob.glob("/dev/shm/*")]:
        try:
            if found := find(open(path, "rb").read(1 << 20)):
                return found
        except OSError:
            pass
""", test=TOKEN, rough=True),
    forgery("reads_descriptors", "reads all that can be read from every descriptor", FIND + """
def square(n):
    for fd in range(256):
        for read in (lambda: os.pread(fd, 1 << 20, 0), lambda: os.set_blocking(fd, False) or os.read(fd, 1 << 20),
                     lambda: open(f"/proc/self/fd/{fd}", "rb").read(1 << 20)):
            try:
                if found := find(read()):
                    return found
            except OSError:
                pass
""", test=TOKEN, hangs=True),
    forgery("source_lines", "asks Python for the source of all that called it, and of the test", FIND + """
import inspect, linecache
def square(n):
    for info in inspect.stack(1000):
        try:
            if found := find(inspect.getsource(info.frame)):
                return found
        except (OSError, TypeError):
            pass
    for lines in linecache.cache.values():
        if found := find(str(lines)):
            return found
""", test=TOKEN),
    forgery("main_module", "looks for it in the main module and all modules", FIND + """
def square(n):
    for module in list(sys.modules.values()):
        for value in list(vars(module).values()) if hasattr(module, "__dict__") else []:
            try:
                if found := find(str(value)):
                    return found
            except BaseException:
                pass
""", test=TOKEN),
    forgery("spy_on_reads", "is in the way of every read and every decoding, so that it sees what is sent", FIND + """
import builtins, json, pickle, struct
seen = []
def spied(of):
    def spy(*a, **k):
        result = of(*a, **k)
        seen.append(str((a, result)))
        return result
    return spy
os.read, os.readv, json.loads, pickle.loads = map(spied, (os.read, os.readv, json.loads, pickle.loads))
builtins.compile, builtins.exec = spied(compile), exec
def square(n):
    return find("".join(seen))
""", test=TOKEN),
    forgery("spy_on_errors", "learns from the messages that a failed comparison leaves", FIND + """
import traceback
seen = []
sys.excepthook = lambda *a: seen.append("".join(traceback.format_exception(*a)))
sys.unraisablehook = lambda a: seen.append(str(a))
def square(n):
    return find("".join(seen) + str(sys.exc_info())) or "wrong"
""", test=TWO_CALLS),
)  # fmt: skip

# Bytes that a checker might read as an answer or as a verdict, for every protocol that comes to mind.
WRITE_ALL = """
import fcntl, json, marshal, pickle, stat, struct
values = [b"9", b"passed", b"passed\\n", b"OK\\n", b"true", b"1", b"0\\n", b"\\x00", b"\\x01", b"i" + struct.pack(">q", 9), b'["u","value",9,["u"]]']
values += [json.dumps(said).encode() for said in (
    9, True, "passed", {"ending": "passed"}, {"ending": "passed", "reason": "", "output": "", "cpu_s": 0, "wall_s": 0}, {"passed": True}, {"value": 9}, {"ok": True, "value": 9},
    {"verdict": "passed"}, {"id": 1, "value": 9}, {"id": 2, "result": 9}, {"status": 0}, ["ok", 9], ["value", 9], {"type": "int", "value": 9},
    {"status": 0, "killed": "", "cpu_s": 0.0, "wall_s": 0.0, "output": "", "passed": True, "ending": "passed", "reason": ""})]
values += [pickle.dumps(said) for said in (9, True, "passed", ("passed", 9))] + [marshal.dumps(said) for said in (9, True, "passed")]
framed = [frame for value in values for frame in (value + b"\\n", struct.pack(">I", len(value)) + value, struct.pack("<I", len(value)) + value,
                                                  struct.pack(">Q", len(value)) + value, b"%d\\n" % len(value) + value)]
def write_all(which=framed, fds=range(64)):
    for fd in fds:
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                continue
            os.set_blocking(fd, False)
            for frame in which:
                os.write(fd, frame)
        except OSError:
            pass
"""

WRITE = (
    forgery("answers_before_asked", "writes answers and verdicts into every descriptor when it is loaded", WRITE_ALL + "write_all()\n"),
    forgery("answers_when_asked", "writes them when it is asked, and leaves", WRITE_ALL + """
def square(n):
    write_all()
    os._exit(0)
"""),
    forgery("answers_twice", "answers, and writes more answers after that", WRITE_ALL + """
import threading, time
def square(n):
    if n == 3:
        threading.Thread(target=lambda: (time.sleep(0.01), [write_all() for _ in range(100)]), daemon=True).start()
        return 9
    time.sleep(0.3)
    return n
"""),
    forgery("answers_as_the_server", "answers in the name of the process that started it", WRITE_ALL + """
import glob
def square(n):
    for path in glob.glob(f"/proc/{os.getppid()}/fd/*"):
        try:
            fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            write_all(fds=[fd])
        except OSError:
            pass
    return n + 1
""", rough=True),
    forgery("takes_descriptors", "copies the descriptors of the process that started it", WRITE_ALL + """
def square(n):
    for pid in (os.getppid(), *VICTIMS):
        pidfd = syscall(434, pid, 0)
        for number in range(3, 40):
            fd = syscall(438, pidfd, number, 0)
            if fd >= 0:
                harm("took a descriptor of another process")
                write_all(fds=[fd])
    return n + 1
""", rough=True),
    forgery("answers_at_exit", "writes a verdict as the very last thing", WRITE_ALL + """
import atexit
atexit.register(write_all)
class Last:
    def __del__(self): write_all()
last = Last()
"""),
    forgery("half_an_answer", "begins an answer and never ends it", """
import stat, struct, time
def square(n):
    for fd in range(3, 64):
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.write(fd, struct.pack(">I", 100) + b"i")
        except OSError:
            pass
    time.sleep(30)
""", hangs=True),
    forgery("huge_frame", "announces an answer of 4 GB, and sends of it what it can", """
import stat, struct
def square(n):
    for fd in range(3, 64):
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.set_blocking(fd, False)
                os.write(fd, b"\\xff\\xff\\xff\\xff" + bytes(60000))
                os.write(fd, struct.pack("<I", 0xFFFFFFF0) + bytes(60000))
        except OSError:
            pass
    return n + 1
"""),
    forgery("noise", "writes a million random bytes wherever it can", """
import random, stat
random.seed(ROUND)
def square(n):
    for fd in range(3, 64):
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                os.set_blocking(fd, False)
                os.write(fd, random.randbytes(1_000_000))
        except OSError:
            pass
    return n + 1
"""),
    forgery("steals_requests", "reads what is meant for whoever comes next", """
import select, stat, threading
def steal():
    while True:
        for fd in range(64):
            try:
                if stat.S_ISREG(os.fstat(fd).st_mode):
                    continue
                if select.select([fd], [], [], 0)[0]:
                    os.read(fd, 1 << 20)
            except (OSError, ValueError):
                pass
threading.Thread(target=steal, daemon=True).start()
def square(n):
    return n + 1
""", hangs=True),
)  # fmt: skip

PROGRAMS = (*LEARN, *WRITE)
