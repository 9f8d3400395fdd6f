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


def copy_to_host():
    source, target = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
    plugin.user_copy_async_13(target, source, ctypes.c_size_t(64), 2)


def wait():
    plugin.user_synchronize()


def allocate():
    plugin.user_allocate()


def poll(times):
    plugin.user_poll(times)


def all_reduce():
    plugin.user_group(1)


def all_gather_object():
    plugin.user_broadcast()


def barrier():
    plugin.user_broadcast()
    plugin.user_synchronize()


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
