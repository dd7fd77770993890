"""Frames between the processes of a sandbox: four bytes of length, then the payload.

`Wire` joins a program and its judge, and takes nothing for granted of the other end. Messages (JSON, with a file descriptor where one is
handed over) join the servers and the process that owns them.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any

_SIZE = struct.Struct(">I")
_LARGEST_MESSAGE = 1 << 28


class Closed(Exception):
    """The other end is gone."""


class Unasked(Exception):
    """The other end sent more than an answer, or too large a frame."""


class Wire:
    """Frames over one file descriptor, each way in turn. Raises Closed where the other end is gone, Unasked where it keeps no turns."""

    __slots__ = ("_largest", "fd")

    def __init__(self, fd: int, largest: int) -> None:
        self.fd = fd
        self._largest = largest

    def send(self, payload: bytes) -> None:
        """Write one frame, however long the other end takes to read it."""
        frame = _SIZE.pack(len(payload)) + payload
        try:
            written = os.write(self.fd, frame)
            left = memoryview(frame)[written:] if written < len(frame) else b""
            while left:
                left = left[os.write(self.fd, left) :]
        except (BrokenPipeError, ConnectionResetError):
            raise Closed from None

    def receive(self) -> bytes:
        """Read one frame, and see to it that nothing stands behind it."""
        try:
            first = os.read(self.fd, 1 << 16)
            if len(first) >= _SIZE.size and _SIZE.unpack_from(first)[0] == len(first) - _SIZE.size <= self._largest:
                return first[_SIZE.size :]
            received = bytearray(first)
            while len(received) < _SIZE.size:
                received += self._more(1 << 16)
            (size,) = _SIZE.unpack_from(received)
            if size > self._largest:
                raise Unasked(f"a frame of {size} bytes")
            while (missing := _SIZE.size + size - len(received)) > 0:
                received += self._more(min(missing, 1 << 20))
        except ConnectionResetError:
            raise Closed from None
        if missing < 0:
            raise Unasked(f"{-missing} bytes more than was asked for")
        return bytes(memoryview(received)[_SIZE.size :])

    def _more(self, size: int) -> bytes:
        part = os.read(self.fd, size)
        if not part:
            raise Closed
        return part


def send_message(control: socket.socket, message: dict[str, Any], fd: int | None = None) -> None:
    """Send a JSON object, and a copy of fd with it. Raises OSError where the other end is gone."""
    body = json.dumps(message).encode()
    frame = memoryview(_SIZE.pack(len(body)) + body)
    if fd is not None:
        frame = frame[socket.send_fds(control, [frame], [fd]) :]
    control.sendall(frame)


def receive_message(control: socket.socket) -> tuple[dict[str, Any], int | None]:
    """The next message, and the file descriptor that came with it. Raises Closed, and TimeoutError by the socket's timeout."""
    try:
        head, fds, _, _ = socket.recv_fds(control, _SIZE.size, 1)
    except ConnectionResetError:
        raise Closed from None
    while len(head) < _SIZE.size:
        head += _part(control, _SIZE.size - len(head))
    (size,) = _SIZE.unpack(head)
    if size > _LARGEST_MESSAGE:
        raise Closed
    body = bytearray()
    while len(body) < size:
        body += _part(control, min(size - len(body), 1 << 20))
    message: dict[str, Any] = json.loads(body)
    return message, fds[0] if fds else None


def _part(control: socket.socket, size: int) -> bytes:
    try:
        part = control.recv(size)
    except ConnectionResetError:
        raise Closed from None
    if not part:
        raise Closed
    return part
