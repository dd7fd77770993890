"""Programs that read, write and remove what is not theirs."""

# ruff: noqa: E501
from __future__ import annotations

from .program import harm

PROGRAMS = (
    harm("read_a_file", "reads a file of another folder that anybody may read", """
tell(open(OUTSIDE + "/secret.txt").read())
"""),
    harm("read_home", "reads the hidden files of the home folder", """
import pwd
homes = {HOME, os.environ.get("HOME", "/"), os.path.expanduser("~"), *(entry.pw_dir for entry in pwd.getpwall())}
for home in homes - {"/"}:
    for folder, _, names in os.walk(home):
        for name in names[:50]:
            try:
                text = open(os.path.join(folder, name), errors="replace").read(10000)
            except OSError:
                continue
            if "SECRET-" in text:
                tell(text)
"""),
    harm("read_shadow", "reads the password hashes", """
if open("/etc/shadow").read():
    harm("read /etc/shadow")
"""),
    harm("read_environment", "looks for a secret in its own environment", """
import re
tell(re.findall("SECRET-[0-9a-f]{32}", str(dict(os.environ)) + open("/proc/self/environ").read()))
"""),
    harm("read_other_environments", "looks for a secret in the environment of every process", """
import re
for pid in [str(os.getppid()), *map(str, VICTIMS), *(name for name in os.listdir("/proc") if name.isdigit())]:
    try:
        tell(re.findall("SECRET-[0-9a-f]{32}", open(f"/proc/{pid}/environ", errors="replace").read()))
    except OSError:
        pass
"""),
    harm("read_other_memory", "looks for a secret in the memory of other processes", """
import re
for pid in (*VICTIMS, os.getppid()):
    try:
        memory = open(f"/proc/{pid}/mem", "rb", 0)
        for line in open(f"/proc/{pid}/maps"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if "w" in line.split()[1] and end - start < 64 << 20:
                memory.seek(start)
                for found in re.findall(rb"SECRET-[0-9a-f]{32}", memory.read(end - start)):
                    tell(found.decode())
    except (OSError, OverflowError, ValueError):
        pass
"""),
    harm("read_other_memory_by_call", "process_vm_readv of every process it can name", """
import ctypes
class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
room = ctypes.create_string_buffer(4096)
for pid in [*VICTIMS, os.getppid()]:
    try:
        maps = [line for line in open(f"/proc/{pid}/maps") if "rw-p" in line]
        places = [int(line.split("-")[0], 16) for line in maps]
    except OSError:
        places = [0x555555554000, 0x400000]
    for place in places:
        here, there = Piece(ctypes.addressof(room), 4096), Piece(place, 4096)
        if syscall(310, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) > 0:
            harm("read the memory of another process")
"""),
    harm("write_a_file", "overwrites a file of another folder that anybody may write, and makes one", """
for path in (OUTSIDE + "/keep.txt", OUTSIDE + "/owned.txt", OUTSIDE + "/" + MARK):
    try:
        open(path, "w").write("overwritten")
    except OSError:
        pass
"""),
    harm("write_anywhere", "leaves a file in every folder of the system that lets it", """
import site, sysconfig
for folder in ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/usr/local", "/var", HOME, sys.prefix, sysconfig.get_path("purelib")):
    try:
        open(os.path.join(folder, MARK), "w").write("left behind")
    except OSError:
        continue
    if folder not in ("/tmp", "/dev/shm"):
        harm(f"wrote to {folder}")
"""),
    harm("delete_files", "removes files and folders that are not its own", """
import shutil
for name in ("keep.txt", "owned.txt", "secret.txt"):
    try:
        os.unlink(os.path.join(OUTSIDE, name))
    except OSError:
        pass
shutil.rmtree(OUTSIDE, ignore_errors=True)
"""),
    harm("rename_files", "moves a file of another folder", """
for name in ("keep.txt", "owned.txt"):
    try:
        os.rename(os.path.join(OUTSIDE, name), os.path.join(OUTSIDE, "moved-" + name))
    except OSError:
        pass
"""),
    harm("truncate_files", "cuts a file of another folder to nothing without opening it", """
for name in ("keep.txt", "owned.txt"):
    try:
        os.truncate(os.path.join(OUTSIDE, name), 0)
    except OSError:
        pass
"""),
    harm("change_modes", "changes the mode, the owner, the times and the attributes of a file of another folder", """
import ctypes
path = os.path.join(OUTSIDE, "owned.txt")
for change in (lambda: os.chmod(path, 0o4777), lambda: os.chown(path, os.getuid(), 12345), lambda: os.utime(path, (1, 1)),
               lambda: os.setxattr(path, "user.hostile", b"1"), lambda: os.chmod(OUTSIDE, 0o700),
               lambda: syscall(452, -100, ctypes.c_char_p(path.encode()), 0o4777, 0)):
    try:
        change()
    except OSError:
        pass
"""),
    harm("symlink", "reads and writes another folder through a symbolic link of its own", """
for folder in (".", "/tmp", "/dev/shm", os.environ.get("TMPDIR", "/tmp")):
    link = os.path.join(folder, MARK)
    try:
        os.symlink(OUTSIDE, link)
        tell(open(link + "/secret.txt").read())
        open(link + "/keep.txt", "a").write("more")
    except OSError:
        pass
"""),
    harm("hard_link", "makes a hard link of a file of another folder, and one inside that folder", """
for folder in (".", "/tmp", "/dev/shm", OUTSIDE):
    try:
        os.link(OUTSIDE + "/owned.txt", os.path.join(folder, MARK))
        tell(open(os.path.join(folder, MARK)).read())
    except OSError:
        pass
"""),
    harm("other_roots", "reads another folder through the roots and folders of other processes", """
import glob
for root in glob.glob("/proc/*/root") + glob.glob("/proc/*/cwd") + ["/proc/1/root", "/proc/self/root/..", "/.." * 20, "/oldroot", "/newroot"]:
    try:
        tell(open(root + OUTSIDE + "/secret.txt").read())
    except OSError:
        pass
"""),
    harm("inherited_folders", "climbs out of every open folder that it was given", """
for fd in range(256):
    for up in ("", "/".join([".."] * 30)):
        try:
            found = os.open((up or ".") + OUTSIDE + "/secret.txt", os.O_RDONLY, dir_fd=fd)
            tell(os.read(found, 1000))
            os.fchdir(fd)
            tell(open("." + OUTSIDE + "/secret.txt").read())
        except OSError:
            pass
"""),
    harm("inherited_files", "reads every open file that it was given, other than pipes", """
import stat
for fd in range(3, 256):
    try:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            tell(os.pread(fd, 100000, 0))
    except OSError:
        pass
    try:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            tell(open(f"/proc/self/fd/{fd}", "rb").read(100000))
    except OSError:
        pass
"""),
    harm("file_handles", "opens a file by its handle, past all paths", """
import ctypes, struct
handle, mount = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128)), ctypes.c_int()
if syscall(303, -100, ctypes.c_char_p((OUTSIDE + "/secret.txt").encode()), handle, ctypes.byref(mount), 0) == 0:
    for folder in ("/", "/tmp", "/usr", "."):
        base = os.open(folder, os.O_RDONLY)
        fd = syscall(304, base, handle, os.O_RDONLY)
        if fd >= 0:
            tell(os.read(fd, 1000))
"""),
    harm("io_uring", "asks the kernel's other queue for what a filter of system calls denies", """
import ctypes
if syscall(425, 4, ctypes.create_string_buffer(120)) >= 0:
    harm("made an io_uring")
"""),
    harm("kernel_files", "opens the kernel's settings for writing", """
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger", "/proc/1/oom_score_adj",
             f"/proc/{os.getppid()}/oom_score_adj", "/sys/kernel/mm/ksm/run", "/sys/power/state", "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda",
             "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/pids/cgroup.procs"):
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        continue
    harm(f"may write {path}")
"""),
    harm("mount", "mounts, binds, changes its root, makes a device", """
import ctypes, stat
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 or libc.mount(b"/", b"/tmp", None, 4096, None) == 0:
    harm("mounted")
if syscall(430, ctypes.c_char_p(b"tmpfs"), 0) >= 0 or syscall(428, -100, ctypes.c_char_p(b"/"), 1) >= 0:
    harm("opened a mount")
try:
    os.chroot("/tmp")
    harm("changed the root")
except OSError:
    pass
try:
    os.mknod("/tmp/" + MARK, stat.S_IFBLK | 0o666, os.makedev(8, 0))
    harm("made a device")
except OSError:
    pass
"""),
    harm("left_for_the_next", "leaves a message in files, for the program after it", """
for folder in (".", "/tmp", "/dev/shm", "/var/tmp", HOME, os.environ.get("TMPDIR", "/tmp")):
    try:
        open(os.path.join(folder, "message"), "w").write("SECOND " + str(os.getpid()))
    except OSError:
        pass
""", then="""
for folder in (".", "/tmp", "/dev/shm", "/var/tmp", HOME, os.environ.get("TMPDIR", "/tmp")):
    try:
        if open(os.path.join(folder, "message")).read().startswith("SECOND"):
            harm("read what the program before it left")
        os.unlink(os.path.join(folder, "message"))
    except OSError:
        pass
"""),
    harm("left_in_the_kernel", "leaves a message in a keyring, a message queue and shared memory, for the program after it", """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for ring in (-4, -5, -3):
    syscall(248, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"assay-hostile"), ctypes.c_char_p(b"SECOND"), 6, ring)
libc.msgget(0x5ECD, 0o1666)
libc.shmget(0x5ECD, 4096, 0o1666)
libc.semget(0x5ECD, 1, 0o1666)
""", then="""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
if any(syscall(250, 10, ring, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"assay-hostile"), 0) >= 0 for ring in (-4, -5, -3)):
    harm("found the key of the program before it")
for name, control in (("msgget", lambda i: libc.msgctl(i, 0, None)), ("shmget", lambda i: libc.shmctl(i, 0, None)), ("semget", lambda i: libc.semctl(i, 0, 0))):
    found = getattr(libc, name)(0x5ECD, 0, *(() if name == "msgget" else (0,)))
    if found >= 0:
        harm(f"found what the program before it left by {name}")
        control(found)
"""),
    harm("watch_folder", "watches a folder that is not its own, for the names of what changes in it", """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init1(0)
if watch >= 0 and libc.inotify_add_watch(watch, OUTSIDE.encode(), 0xFFF) >= 0:
    harm("watches a folder of another")
"""),
    harm("attributes", "reads the attributes of a file of another folder", """
for read in (os.listxattr, lambda path: os.getxattr(path, "user.x")):
    try:
        read(OUTSIDE)
    except OSError as error:
        if error.errno not in (61, 95):
            continue
        if error.errno == 95:  # the file system has none, or it is not told
            continue
    harm("asked for the attributes of a folder of another")
"""),
    harm("aio_slots", "takes the machine's slots for asynchronous input", """
import ctypes, platform
context = ctypes.c_ulong(0)
if syscall(206 if platform.machine() == "x86_64" else 0, 4096, ctypes.byref(context)) == 0:
    harm("took slots of the machine")
"""),
)  # fmt: skip
