"""Memory classes, streams, events, capture and forks of the simulated device; every check is named by what it prints."""

import ctypes
import os
import threading

import torch

rt = ctypes.CDLL("libcudart.so.13")
x = torch.ones(4, device="cuda")


class Attributes(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("device", ctypes.c_int), ("pointers", ctypes.c_void_p * 2), ("more", ctypes.c_long * 8)]


def kind(pointer):
    a = Attributes()
    assert rt.cudaPointerGetAttributes(ctypes.byref(a), ctypes.c_void_p(pointer)) == 0
    return a.type, a.device


def memory():
    pinned, pageable = torch.ones(4).pin_memory(), torch.ones(4)
    assert kind(x.data_ptr()) == (2, 0) and kind(pinned.data_ptr())[0] == 1 and kind(pageable.data_ptr()) == (0, -1)
    assert pinned.is_pinned() and not pageable.is_pinned()
    buffer = ctypes.create_string_buffer(4096)
    at = ctypes.addressof(buffer)
    assert rt.cudaHostRegister(ctypes.c_void_p(at), ctypes.c_size_t(4096), 0) == 0
    assert kind(at + 100)[0] == 1 and rt.cudaHostUnregister(ctypes.c_void_p(at)) == 0 and kind(at + 100)[0] == 0


def reuse():
    """Memory that comes back is zero, and is the same memory."""
    p, q = ctypes.c_void_p(), ctypes.c_void_p()
    size = ctypes.c_size_t(1 << 20)
    assert rt.cudaMalloc(ctypes.byref(p), size) == 0
    ctypes.memset(p.value, 7, 1 << 20)
    before = torch.cuda.mem_get_info()[0]
    assert rt.cudaFree(p) == 0 and torch.cuda.mem_get_info()[0] == before + (1 << 20)
    assert rt.cudaMalloc(ctypes.byref(q), size) == 0 and q.value == p.value
    assert ctypes.string_at(q.value, 16) == bytes(16)
    assert rt.cudaFree(q) == 0 and rt.cudaFree(q) != 0
    rt.cudaGetLastError()


def out_of_memory():
    try:
        torch.empty(1 << 42, dtype=torch.uint8, device="cuda")
    except torch.OutOfMemoryError as error:
        assert "Tried to allocate 4096.00 GiB" in str(error)
    else:
        raise AssertionError
    assert torch.empty(1 << 20, device="cuda").numel() == 1 << 20


def queries():
    stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    assert stream.query() and not torch.cuda.Event().record() and event.query()
    with torch.cuda.stream(stream):
        event.record()
    event.synchronize()
    end = torch.cuda.Event(enable_timing=True)
    end.record()
    assert event.query() and event.elapsed_time(end) >= 0
    assert torch.cuda.Stream(priority=-1).priority == -1


def capture():
    graph, static = torch.cuda.CUDAGraph(), torch.zeros(4, device="cuda")
    with torch.cuda.graph(graph):
        static.add_(1)
        static.zero_()
    graph.replay()
    bad = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(bad):
            static.sum().item()
    except Exception as error:
        assert "captur" in str(error), error
    else:
        raise AssertionError
    stream, made = ctypes.c_void_p(), ctypes.c_void_p()
    rt.cudaStreamCreate(ctypes.byref(stream))
    assert rt.cudaStreamBeginCapture(stream, 1) == 0
    assert rt.cudaStreamSynchronize(stream) == 900 and rt.cudaDeviceSynchronize() == 900
    assert rt.cudaStreamEndCapture(stream, ctypes.byref(made)) == 901 and not made.value
    rt.cudaGetLastError()
    torch.cuda.synchronize()
    assert (static + 1).tolist() == [1.0] * 4


def properties():
    p = torch.cuda.get_device_properties(0)
    assert (p.major, p.minor, p.multi_processor_count, p.warp_size) == (9, 0, 132, 32)
    assert p.total_memory == 4 << 30 and "Simulated" in p.name


def devices():
    assert torch.cuda.device_count() == 2 and torch.cuda.mem_get_info(1)[1] == 4 << 30
    y = torch.full((4,), 2.0, device="cuda:1")
    assert kind(y.data_ptr()) == (2, 1)
    assert (x.to("cuda:1") + y).tolist() == [3.0] * 4
    held = torch.empty(3 << 30, dtype=torch.uint8, device="cuda:1")
    assert torch.empty(3 << 30, dtype=torch.uint8, device="cuda:0").numel() == held.numel()
    try:
        torch.empty(2 << 30, dtype=torch.uint8, device="cuda:1")
    except torch.OutOfMemoryError:
        pass
    else:
        raise AssertionError


def fork():
    """A child may leave at once, or work on the CPU; it does not hang on a lock another thread held."""
    stop = threading.Event()

    def busy():
        p = ctypes.c_void_p()
        while not stop.is_set():
            rt.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(4096))
            rt.cudaFree(p)

    thread = threading.Thread(target=busy)
    thread.start()
    for _ in range(20):
        child = os.fork()
        if not child:
            a = Attributes()
            rt.cudaPointerGetAttributes(ctypes.byref(a), ctypes.c_void_p(x.data_ptr()))
            p = ctypes.c_void_p()
            os._exit(rt.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(4096)) or (torch.ones(3).sum().item() != 3))
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    thread.join()


def workers():
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=2, pin_memory=True)
    assert [batch.cuda(non_blocking=True).sum().item() for (batch,) in loader] == [6.0, 22.0]


for check in (memory, reuse, out_of_memory, queries, capture, properties, devices, fork):
    check()
    print(check.__name__)
if __name__ == "__main__":
    workers()
    print("workers")
