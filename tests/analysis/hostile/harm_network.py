"""Programs that talk to others: over the network, by sockets, by signals, by tracing."""

# ruff: noqa: E501
from __future__ import annotations

from .program import harm

PROGRAMS = (
    harm("tcp", "connects to a port of this machine", """
import socket
socket.create_connection(("127.0.0.1", PORT), timeout=1).send(b"hello")
"""),
    harm("udp", "sends a datagram, as a name server's client would", """
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", ("127.0.0.1", PORT))
"""),
    harm("udp_connected", "sends a datagram on a connected socket, as IPv6 for an IPv4 address", """
import socket
mapped = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
mapped.connect(("::ffff:127.0.0.1", PORT))
mapped.send(b"hello")
"""),
    harm("unix_socket", "connects to a socket that lies in another folder", """
import socket
socket.socket(socket.AF_UNIX).connect(OUTSIDE + "/socket")
"""),
    harm("abstract_socket", "connects to a socket that has a name and no file", """
import socket
socket.socket(socket.AF_UNIX).connect(ABSTRACT)
"""),
    harm("listen", "offers a port of its own to others", """
import socket
server = socket.create_server(("0.0.0.0", 0))
socket.create_connection(server.getsockname(), timeout=1)
harm("opened a port")
"""),
    harm("odd_sockets", "opens sockets of kinds that reach the kernel or the machine's host", """
import socket
for family, kind, name in ((16, 3, "netlink"), (40, 1, "vsock"), (17, 3, "packet"), (38, 5, "kernel crypto"), (2, 3, "raw"), (31, 3, "Bluetooth")):
    try:
        socket.socket(family, kind, 255 if name == "raw" else 0).close()
    except OSError:
        continue
    harm(f"opened a {name} socket")
"""),
    harm("inherited_sockets", "talks on every socket that it was given", """
import socket, stat
for fd in range(3, 256):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            with socket.socket(fileno=os.dup(fd)) as given:
                given.connect(("127.0.0.1", PORT))
    except OSError:
        pass
"""),
    harm("signal_all", "signals every process that it may (with a signal that nobody minds)", """
import signal
for send in (lambda: os.kill(-1, signal.SIGURG), lambda: os.killpg(0, signal.SIGURG)):
    try:
        send()
    except OSError:
        pass
"""),
    harm("signal_one", "kills and stops processes whose number it knows, by every call there is", """
import signal
for pid in VICTIMS:
    for send in (lambda: os.kill(pid, signal.SIGSTOP), lambda: os.kill(pid, signal.SIGKILL), lambda: os.killpg(pid, signal.SIGKILL),
                 lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGKILL)):
        try:
            send()
        except OSError:
            pass
    syscall(200, pid, 9)
    syscall(234, pid, pid, 9)
"""),
    harm("signal_by_descriptor", "has the kernel signal another process when a descriptor is ready", """
import fcntl, signal
for pid in VICTIMS:
    reading, writing = os.pipe()
    try:
        fcntl.fcntl(reading, fcntl.F_SETOWN, pid)
        fcntl.fcntl(reading, 10, signal.SIGURG)
        fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    except OSError:
        continue
    os.write(writing, b"now")
"""),
    harm("kill_parent", "kills the process that it was started by", """
import signal
os.kill(os.getppid(), signal.SIGKILL)
""", rough=True),
    harm("stop_parent", "stops the process that it was started by", """
import signal
os.kill(os.getppid(), signal.SIGSTOP)
""", rough=True, hangs=True),
    harm("kill_family", "kills the process that it was started by and all that that one started", """
import signal
def parent_of(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
parent, family = os.getppid(), []
for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
    try:
        if parent_of(pid) in (parent, parent_of(parent)) and pid != os.getpid():
            family.append(pid)
    except (OSError, ValueError):
        pass
for pid in (parent, *VICTIMS, *family):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
""", rough=True),
    harm("debugs_others", "attaches itself as the debugger of other processes", """
import ctypes
for pid in [*VICTIMS, os.getppid()]:
    for request in (16, 0x4206):
        if syscall(101, request, pid, 0, 0) == 0:
            harm("traces another process")
            syscall(101, 17, pid, 0, 0)
if syscall(440, -1, 0, 0, 0, 0) >= 0 or any(syscall(438, pidfd, 1, 0) >= 0 for pidfd in [syscall(434, pid, 0) for pid in VICTIMS] if pidfd >= 0):
    harm("took a descriptor of another process")
"""),
    harm("write_other_memory", "writes into the memory of the process that it was started by", """
import re
for pid in (os.getppid(), *VICTIMS):
    try:
        memory = open(f"/proc/{pid}/mem", "r+b", 0)
        line = next(line for line in open(f"/proc/{pid}/maps") if "rw-p" in line)
        start = int(line.split("-")[0], 16)
        memory.seek(start)
        same = memory.read(8)
        memory.seek(start)
        if memory.write(same) == 8:
            harm("wrote into another process")
    except (OSError, StopIteration):
        pass
"""),
    harm("terminal", "types into the terminal that Assay was started from", """
import fcntl
for path in ("/dev/tty", "/dev/console", "/dev/pts/0", "/proc/self/fd/0"):
    try:
        fcntl.ioctl(os.open(path, os.O_RDWR), 0x5412, b" ")
    except OSError:
        continue
    harm("typed into a terminal")
"""),
    harm("priority", "gives itself precedence over others", """
for rise in (lambda: os.nice(-10), lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)), lambda: os.setpriority(os.PRIO_PROCESS, 0, -15)):
    try:
        rise()
    except OSError:
        continue
    harm("rose above others")
"""),
    harm("priority_of_others", "slows down processes that are not its own", """
for pid in (os.getppid(), *VICTIMS):
    try:
        if os.getpriority(os.PRIO_PROCESS, pid) < 5:
            os.setpriority(os.PRIO_PROCESS, pid, 5)
            harm("slowed another process down")
    except OSError:
        pass
    try:
        import resource
        resource.prlimit(pid, resource.RLIMIT_CORE, resource.prlimit(pid, resource.RLIMIT_CORE))
        harm("set the limits of another process")
    except OSError:
        pass
"""),
    harm("clock", "sets the machine's clock (to what it shows)", """
import time
try:
    time.clock_settime(time.CLOCK_REALTIME, time.time())
    harm("set the clock")
except OSError:
    pass
"""),
    harm("rights", "takes more rights: a user namespace, another user, capabilities", """
import ctypes
if syscall(272, 0x10000000) == 0:
    harm("made a user namespace")
for take in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgroups([0])):
    if os.getuid() == 0:
        harm("is root")
    try:
        take()
    except OSError:
        continue
    harm("became root")
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
if int(status["CapEff"], 16):
    harm("has capabilities")
if not int(status["NoNewPrivs"]):
    harm("may gain rights from a program's set-user-id bit")
"""),
    harm("kernel_calls", "uses calls that lead deep into the kernel", """
import ctypes
room = ctypes.create_string_buffer(256)
for number, arguments, name in ((321, (0, room, 128), "bpf"), (298, (room, 0, -1, -1, 0), "perf_event_open"), (323, (1,), "userfaultfd"),
                                (246, (0, 0, room, 0), "kexec_load"), (175, (room, 0, room), "init_module"), (167, (room,), "swapon"),
                                (169, (0, 0, 0, 0), "reboot"), (170, (room, 4), "sethostname"), (300, (0, 0), "fanotify_init")):
    if syscall(number, *arguments) >= 0:
        harm(f"called {name}")
"""),
)  # fmt: skip
