"""Frames between the processes of the Python sandbox: four bytes of length, then the payload.

`Wire` joins a program and its judge, and trusts nothing of the other end. Messages (JSON, some with a file descriptor, some with bytes
after them) pass between the servers and the process that owns them.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any

_SIZE = struct.Struct(">I")
_MAX_MESSAGE = 1 << 28


class WireClosed(Exception):
    """The other end is gone."""


class UnexpectedData(Exception):
    """The other end sent more than one answer, or too large a frame."""


class Wire:
    """Frames over one file descriptor, one each way in turn.

    Raises WireClosed where the other end is gone, UnexpectedData where it sends out of turn.
    """

    __slots__ = ("_max_bytes", "fd")

    def __init__(self, fd: int, max_bytes: int) -> None:
        self.fd = fd
        self._max_bytes = max_bytes

    def send(self, payload: bytes) -> None:
        """Write one frame, however long the other end takes to read it."""
        frame = _SIZE.pack(len(payload)) + payload
        try:
            written = os.write(self.fd, frame)
            left = memoryview(frame)[written:] if written < len(frame) else b""
            while left:
                left = left[os.write(self.fd, left) :]
        except (BrokenPipeError, ConnectionResetError):
            raise WireClosed from None

    def receive(self) -> bytes:
        """Read one frame. Raises UnexpectedData where more bytes follow it."""
        try:
            first = os.read(self.fd, 1 << 16)
            if len(first) >= _SIZE.size and _SIZE.unpack_from(first)[0] == len(first) - _SIZE.size <= self._max_bytes:
                return first[_SIZE.size :]
            received = bytearray(first)
            while len(received) < _SIZE.size:
                received += self._more(1 << 16)
            (size,) = _SIZE.unpack_from(received)
            if size > self._max_bytes:
                raise UnexpectedData(f"a frame of {size} bytes")
            while (missing := _SIZE.size + size - len(received)) > 0:
                received += self._more(min(missing, 1 << 20))
        except ConnectionResetError:
            raise WireClosed from None
        if missing < 0:
            raise UnexpectedData(f"{-missing} bytes more than was asked for")
        return bytes(memoryview(received)[_SIZE.size :])

    def _more(self, size: int) -> bytes:
        part = os.read(self.fd, size)
        if not part:
            raise WireClosed
        return part


def send_message(control: socket.socket, message: dict[str, Any], fd: int | None = None, data: bytes | None = None) -> None:
    """Send a JSON object, a copy of fd with it, and data as it is. Raises OSError where the other end is gone."""
    body = json.dumps(message if data is None else message | {"data": len(data)}).encode()
    frame = memoryview(_SIZE.pack(len(body)) + body)
    if fd is not None:
        frame = frame[socket.send_fds(control, [frame], [fd]) :]
    control.sendall(frame)
    if data is not None:
        control.sendall(data)


def receive_message(control: socket.socket) -> tuple[dict[str, Any], int | None]:
    """The next message, and the file descriptor that came with it. Its field `data` holds the bytes that came after it.

    Raises WireClosed, and TimeoutError by the socket's timeout.
    """
    try:
        head, fds, _, _ = socket.recv_fds(control, _SIZE.size, 1)
        head += _receive_all(control, _SIZE.size - len(head))
        message: dict[str, Any] = json.loads(_receive_all(control, *_SIZE.unpack(head)))
        if "data" in message:
            message["data"] = _receive_all(control, message["data"])
    except ConnectionResetError:
        raise WireClosed from None
    return message, fds[0] if fds else None


def _receive_all(control: socket.socket, size: int) -> bytearray:
    if size > _MAX_MESSAGE:
        raise WireClosed
    received = bytearray(size)
    left = memoryview(received)
    while left:
        if not (count := control.recv_into(left)):
            raise WireClosed
        left = left[count:]
    return received
