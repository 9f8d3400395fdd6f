"""A stand-in for a framework: a Tensor whose special methods read the device through a plugin of the test runtime."""

import ctypes

plugin = None


def load(path):
    global plugin
    plugin = ctypes.CDLL(path)


def read(size):
    source, target = ctypes.create_string_buffer(size), ctypes.create_string_buffer(size)
    plugin.user_read_13(target, source, ctypes.c_size_t(size))
    return 1


def upload():
    source, target = ctypes.create_string_buffer(8), ctypes.create_string_buffer(8)
    plugin.user_copy_async_13(target, source, ctypes.c_size_t(8), 1)


class Tensor:
    def __bool__(self):
        return bool(read(1))

    def __float__(self):
        return float(read(8))

    def __index__(self):
        return read(8)

    def __contains__(self, element):
        return bool(read(1))

    def __gt__(self, other):
        return self

    __lt__ = __gt__

    def __format__(self, spec):
        return str(read(8))

    def __repr__(self):
        return str(read(64))

    def item(self):
        return read(8)

    def cpu(self):
        return read(64)

    def tolist(self):
        return [read(64)]

    def raw(self, size):
        return read(size)
