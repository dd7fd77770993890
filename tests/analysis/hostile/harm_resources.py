"""Programs that take what they can get: processes, memory, disk, time, output. All stop at a bound that a machine bears."""

from __future__ import annotations

from .program import harm

PROGRAMS = (
    harm("fork_bomb", "forks as often as it can (at most 60 times)", """
import time
made = 0
for _ in range(60):
    try:
        if os.fork() == 0:
            marked()
            time.sleep(30)
            os._exit(0)
        made += 1
    except OSError:
        break
if made:
    harm("started processes")
"""),
    harm("fork_by_call", "starts processes by the calls below fork", """
import time
for number, arguments in ((57, ()), (58, ()), (56, (17, 0, 0, 0, 0)), (56, (0x4011, 0, 0, 0, 0))):
    pid = syscall(number, *arguments)
    if pid == 0:
        marked()
        time.sleep(30)
        os._exit(0)
    if pid > 0:
        harm("started a process by a call")
"""),
    harm("daemon", "leaves a process behind that has its own session and no parent", """
import time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        marked()
        for fd in range(256):
            try:
                os.close(fd)
            except OSError:
                pass
        time.sleep(30)
    os._exit(0)
"""),
    harm("other_program", "runs another program", """
import subprocess
for command in (["/bin/sh", "-c", "echo HARM: ran a shell"], [sys.executable, "-c", "print('HARM: ran an interpreter')"]):
    try:
        tell(subprocess.run(command, capture_output=True, text=True, timeout=2).stdout)
    except (OSError, subprocess.SubprocessError):
        pass
try:
    os.posix_spawn("/bin/echo", ["echo", "HARM: spawned"], {})
except OSError:
    pass
"""),
    harm("becomes_another", "becomes a program that has the user's rights of its file, or a shell", """
for path in ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/newgrp", "/usr/bin/mount"):
    if os.access(path, os.X_OK) and os.path.exists("/bin/sh"):
        os.execv("/bin/sh", ["sh", "-c", "echo HARM: became a shell"])
"""),
    harm("program_in_memory", "runs a program that is on no disk", """
fd = os.memfd_create("program", 0)
os.write(fd, open("/bin/echo", "rb").read())
os.execve(fd, ["echo", "HARM: ran a program from memory"], {})
"""),
    harm("daemon_of_another", "leaves another program behind, by name", """
import subprocess
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)", MARK], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
"""),
    harm("memory", "takes memory, in one piece and then in many", """
held = []
for size in (2 * MEMORY, MEMORY // 8):
    try:
        while sum(map(len, held)) < 2 * MEMORY:
            held.append(bytearray(b"x") * size)
    except MemoryError:
        pass
if sum(map(len, held)) > 1.5 * MEMORY:
    harm("has more memory than it may")
"""),
    harm("memory_maps", "takes memory by maps, shared and private", """
import mmap
held = 0
maps = []
for flags in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
    try:
        while held < 2 * MEMORY:
            piece = mmap.mmap(-1, MEMORY // 8, flags=flags | mmap.MAP_ANONYMOUS)
            for page in range(0, len(piece), 4096):
                piece[page] = 1
            held += len(piece)
            maps.append(piece)
    except (OSError, MemoryError, ValueError):
        pass
if held > 1.5 * MEMORY:
    harm("has more memory than it may")
"""),
    harm("memory_files", "takes memory as files that are in memory", """
held, block = 0, bytes(1 << 20)
for number in range(64):
    try:
        fd = os.memfd_create(f"m{number}")
        for _ in range(MEMORY // 16 >> 20):
            held += os.write(fd, block)
    except OSError:
        break
if held > 1.5 * MEMORY:
    harm("has more memory than it may")
"""),
    harm("memory_segments", "takes memory as segments that outlive the process", """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
held, ids = 0, []
for _ in range(16):
    found = libc.shmget(0, MEMORY // 8, 0o1600)
    if found < 0:
        break
    ids.append(found)
    place = libc.shmat(found, None, 0)
    if place in (None, 2**64 - 1):
        break
    ctypes.memset(place, 1, MEMORY // 8)
    libc.shmdt(ctypes.c_void_p(place))
    held += MEMORY // 8
if held > 1.5 * MEMORY:
    harm("has more memory than it may, for ever")
for found in ids:
    libc.shmctl(found, 0, None)
"""),
    harm("memory_of_many", "takes memory in many processes", """
import time
made = 0
for _ in range(8):
    try:
        pid = os.fork()
    except OSError:
        break
    if pid == 0:
        marked()
        held = bytearray(b"x") * (MEMORY // 4)
        time.sleep(2)
        os._exit(0)
    made += 1
if made * MEMORY / 4 > 1.5 * MEMORY:
    harm("has more memory than it may, in many processes")
"""),
    harm("memory_of_pipes", "has the kernel keep memory for it in pipes and sockets", """
import fcntl, socket
held, kept = 0, []
try:
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
except (OSError, ValueError):
    pass
block = bytes(1 << 20)
try:
    while held < 2 * MEMORY:
        reading, writing = os.pipe()
        kept.append((reading, writing))
        try:
            fcntl.fcntl(writing, 1031, 1 << 20)
        except OSError:
            pass
        os.set_blocking(writing, False)
        held += os.write(writing, block)
except OSError:
    pass
try:
    while held < 2 * MEMORY:
        one, other = socket.socketpair()
        kept.append((one, other))
        one.setblocking(False)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
        held += one.send(block)
except OSError:
    pass
if held > 1.5 * MEMORY:
    harm("has more of the kernel's memory than it may")
"""),
    harm("memory_of_threads", "takes memory as the stacks of threads", """
import threading
threading.stack_size(64 << 20)
gate, made = threading.Event(), []
def wait():
    deep(3000)
    gate.wait(0.2)
def deep(n):
    if n:
        deep(n - 1)
sys.setrecursionlimit(10000)
try:
    for _ in range(400):
        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        made.append(thread)
except (RuntimeError, MemoryError):
    pass
if len(made) == 400:
    harm("has 400 threads with 25 GiB of stack")
"""),
    harm("disk", "fills every folder that it may write to", """
written, block = 0, b"x" * (1 << 18)
for folder in (".", "/tmp", "/dev/shm", "/var/tmp", HOME, os.environ.get("TMPDIR", "/tmp")):
    for number in range(40):
        path = os.path.join(folder, f"{MARK}-{number}")
        try:
            with open(path, "wb", 0) as file:
                for _ in range(DISK // 2 // len(block)):
                    written += file.write(block)
        except OSError:
            break
if written > 3 * DISK:
    harm("has more disk than it may")
for folder in (".", "/tmp", "/dev/shm", "/var/tmp", HOME):
    for number in range(40):
        try:
            os.unlink(os.path.join(folder, f"{MARK}-{number}"))
        except OSError:
            pass
"""),
    harm("disk_at_once", "reserves disk without writing it", """
for folder in (".", "/tmp", "/dev/shm", "/var/tmp", HOME):
    path = os.path.join(folder, MARK)
    try:
        with open(path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 4 * DISK)
        harm(f"reserved more of {folder} than it may")
    except OSError:
        pass
    try:
        os.unlink(path)
    except OSError:
        pass
"""),
    harm("unlinked_disk", "fills the disk with files that have no name any more", """
held, kept, block = 0, [], b"x" * (1 << 18)
for folder in (".", "/tmp", "/dev/shm", "/var/tmp", HOME):
    try:
        for _ in range(8):
            fd = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
            kept.append(fd)
            for _ in range(DISK // 2 // len(block)):
                held += os.write(fd, block)
    except OSError:
        pass
if held > 3 * DISK:
    harm("has more disk than it may")
"""),
    harm("inodes", "makes as many files as it can (at most 30,000)", """
made = []
for folder in (".", "/tmp", "/dev/shm"):
    try:
        for number in range(30000 - len(made)):
            path = os.path.join(folder, f"{MARK}-{number}")
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            made.append(path)
    except OSError:
        pass
if len(made) >= 30000:
    harm("made 30,000 files")
for path in made:
    os.unlink(path)
"""),
    harm("descriptors", "opens as many files as it can (at most 20,000)", """
try:
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
except (OSError, ValueError):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
made = 0
try:
    for made in range(20000):
        os.open("/dev/null", os.O_RDONLY)
except OSError:
    pass
if made > 10000:
    harm("holds 10,000 files open")
"""),
    harm("core", "leaves a dump of its memory behind when it crashes", """
import ctypes, resource
try:
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
    harm("may leave a dump of its memory")
except (OSError, ValueError):
    pass
ctypes.string_at(8)
"""),
    harm("raise_limits", "raises its own limits", """
import resource
for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NPROC", "RLIMIT_NOFILE"):
    limit = getattr(resource, name)
    hard = resource.getrlimit(limit)[1]
    if hard == resource.RLIM_INFINITY and name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE"):
        harm(f"has no {name}")
        continue
    try:
        resource.setrlimit(limit, (hard + 1, hard + 1))
    except (OSError, ValueError):
        continue
    if name != "RLIMIT_NOFILE":
        harm(f"raised {name}")
"""),
    harm("stack", "recurses until the stack is gone", """
sys.setrecursionlimit(10**9)
def square(n):
    return square(n + 1) + 1
""", hangs=True),
    harm("endless", "computes for ever, deaf to every signal that it can ignore", """
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
try:
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
except OSError:
    pass
def square(n):
    while True:
        pass
""", hangs=True),
    harm("endless_in_c", "computes for ever in one instruction of the interpreter", """
def square(n):
    return sum(range(10**13))
""", hangs=True),
    harm("endless_pattern", "matches a pattern that takes an age", """
import re
def square(n):
    return re.match("(a+)+$", "a" * 60 + "b")
""", hangs=True),
    harm("sleep", "sleeps, with all signals blocked, and takes no processor time", """
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
def square(n):
    while True:
        time.sleep(100)
""", hangs=True),
    harm("deadlock", "waits for what it holds, when it is loaded", """
import threading
lock = threading.Lock()
lock.acquire()
lock.acquire()
""", hangs=True),
    harm("fork_and_wait", "waits for a child that computes for ever", """
def square(n):
    if os.fork() == 0:
        marked()
        while True:
            pass
    os.wait()
""", hangs=True),
    harm("slow_values", "answers, but never ends answering", """
def square(n):
    def numbers():
        while True:
            yield 1
    return numbers()
""", test="""
def check(candidate):
    assert list(candidate(1)) == [1]
""", hangs=True),
    harm("endless_output", "writes to standard output and standard error for ever", """
block = b"x" * 65536
while True:
    for fd in (1, 2):
        try:
            os.write(fd, block)
        except OSError:
            pass
""", hangs=True),
    harm("much_output", "writes 100 MB in one line, and a wrong answer", """
sys.stdout.write("x" * 50_000_000)
for _ in range(50):
    print("x" * 1_000_000, end="")
sys.stdout.flush()
"""),
    harm("late_output", "writes a lot when it ends", """
import atexit
for _ in range(10):
    atexit.register(lambda: os.write(1, b"x" * 10_000_000))
"""),
)  # fmt: skip
