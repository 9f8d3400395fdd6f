"""One process meets every fault of the table: torch must raise the named error, and work again when the fault is gone.

Argument: the table's part to run (one or group). Prints the number of faults met."""

import ctypes
import re
import sys

import torch

simulator = ctypes.CDLL(None)
x = torch.ones(8, device="cuda")
square = torch.eye(4, device="cuda") * 2
sizes = iter(range(1, 1000))


def pinned():
    return torch.ones(next(sizes) << 18).pin_memory()


def fresh():
    torch.cuda.empty_cache()
    return torch.empty(64 << 20, device="cuda")


def free():
    y = torch.empty(64 << 20, device="cuda")  # noqa: F841
    del y
    torch.cuda.empty_cache()


def event():
    e = torch.cuda.Event(enable_timing=True)
    e.record()
    return e


def capture(then=lambda graph: None):
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        graph.capture_begin()
        try:
            x + 1
        finally:
            graph.capture_end()
    then(graph)


def convolve():
    return torch.nn.functional.conv2d(torch.ones(1, 3, 8, 8, device="cuda"), torch.ones(4, 3, 3, 3, device="cuda"))


ILLEGAL, LAUNCH, MEMORY = "illegal memory access", "unspecified launch failure", "out of memory"
ONE = [
    ("cudaStreamCreateWithPriority@1=2", torch.cuda.Stream, MEMORY),
    ("cublasCreate_v2@1=1", lambda: square @ square, "CUBLAS_STATUS_NOT_INITIALIZED"),
    ("cublasCreate_v2@1=3", lambda: square @ square, "CUBLAS_STATUS_ALLOC_FAILED"),
    ("cudnnCreate@1=1001", convolve, "cuDNN error"),
    ("cudaMalloc@1+=2", fresh, "Tried to allocate 256.00 MiB"),
    ("cudaMalloc@1=999", fresh, "unknown error"),
    ("cudaMalloc@1=700:sticky", fresh, ILLEGAL),
    ("cudaFree=1", free, "invalid argument"),
    ("cudaFree=700:sticky", free, ILLEGAL),
    ("cudaHostAlloc=2", pinned, MEMORY),
    ("cudaHostAlloc=719:sticky", pinned, LAUNCH),
    ("cudaLaunchKernel=719:sticky", lambda: x + 1, LAUNCH),
    ("cudaLaunchKernel=700:sticky", lambda: x.sum(), ILLEGAL),
    ("cudaLaunchKernel=701", lambda: x * 2, "too many resources"),
    ("cudaLaunchKernel=98", lambda: torch.sort(x), "invalid device function"),
    ("cudaLaunchKernel=209", lambda: x.exp(), "no kernel image"),
    ("cudaLaunchKernel=9", lambda: torch.softmax(x, 0), "invalid configuration"),
    ("cudaLaunchKernel@2=719", lambda: (x + 1, x + 2), LAUNCH),
    ("cudaMemcpyAsync=700:sticky", lambda: x.cpu(), ILLEGAL),
    ("cudaMemcpyAsync=1", lambda: torch.ones(4).cuda(), "invalid argument"),
    ("cudaMemcpyAsync=719:sticky", lambda: x.sum().item(), LAUNCH),
    ("cudaMemcpyAsync=214:sticky", lambda: x.clone().cpu(), "uncorrectable ECC"),
    ("cudaStreamSynchronize=719:sticky", lambda: x.sum().item(), LAUNCH),
    ("cudaStreamSynchronize=700:sticky", lambda: x.tolist(), ILLEGAL),
    ("cudaStreamSynchronize=710:sticky", lambda: torch.cuda.current_stream().synchronize(), "device-side assert"),
    ("cudaStreamSynchronize=702:sticky", lambda: x.nonzero(), "launch timed out"),
    ("cudaDeviceSynchronize=716:sticky", torch.cuda.synchronize, "misaligned address"),
    ("cudaDeviceSynchronize=715:sticky", torch.cuda.synchronize, "illegal instruction"),
    ("cudaStreamQuery=700:sticky", lambda: torch.cuda.current_stream().query(), ILLEGAL),
    ("cudaStreamWaitEvent=400", lambda: torch.cuda.Stream().wait_event(event()), "invalid resource handle"),
    ("cudaEventCreateWithFlags=2", event, MEMORY),
    ("cudaEventRecordWithFlags=400", event, "invalid resource handle"),
    ("cudaEventQuery=719:sticky", lambda: event().query(), LAUNCH),
    ("cudaEventSynchronize=719:sticky", lambda: event().synchronize(), LAUNCH),
    ("cudaEventElapsedTime=400", lambda: event().elapsed_time(event()), "invalid resource handle"),
    ("cudaMemGetInfo=46", torch.cuda.mem_get_info, "busy or unavailable"),
    ("cudaMemsetAsync=719:sticky", lambda: torch.empty(8, device="cuda").zero_(), LAUNCH),
    ("cublasSgemm_v2=13,cublasGemmEx=13,cublasLtMatmul=13", lambda: square @ square, "CUBLAS_STATUS_EXECUTION_FAILED"),
    ("cudnnBackendExecute=5000", convolve, "unable to find an engine"),
    ("cufftXtExec=6", lambda: torch.fft.fft(x), "CUFFT_EXEC_FAILED"),
    ("cufftXtMakePlanMany=2", lambda: torch.fft.fft(torch.ones(32, device="cuda")), "CUFFT_ALLOC_FAILED"),
    ("cusparseSpMM=6", lambda: square.to_sparse_csr() @ square, "cuSPARSE error"),
    ("cudaStreamBeginCapture=401", capture, "operation cannot be performed in the present state"),
    ("cudaStreamEndCapture=901", capture, "previous error during capture"),
    ("cudaGraphInstantiate=2,cudaGraphInstantiateWithFlags=2", capture, MEMORY),
    ("cudaGraphLaunch=719:sticky", lambda: capture(lambda graph: graph.replay()), LAUNCH),
]
GROUP = [
    ("ncclGetUniqueId=2", lambda: restart(), "unhandled system error"),
    ("ncclCommInitRankConfig=2", lambda: restart(), "unhandled system error"),
    ("ncclCommInitRankConfig=4", lambda: restart(), "invalid argument"),
    ("ncclAllReduce=1", lambda: torch.distributed.all_reduce(x), "unhandled cuda error"),
    ("ncclAllReduce=3", lambda: torch.distributed.all_reduce(x), "internal error"),
    ("ncclAllReduce=5", lambda: torch.distributed.all_reduce(x), "invalid usage"),
    ("ncclAllReduce=6", lambda: torch.distributed.all_reduce(x), "remote process exited"),
    ("ncclAllGather@2=2", lambda: [gather() for _ in range(2)], "unhandled system error"),
    ("ncclAllGather=2#0", lambda: gather(), "unhandled system error"),
    ("ncclBcast=3", lambda: torch.distributed.broadcast(x, 0), "internal error"),
    ("ncclReduceScatter=3", lambda: torch.distributed.reduce_scatter_tensor(torch.empty_like(x), x), "internal error"),
    ("ncclGroupEnd=3", lambda: torch.distributed.batch_isend_irecv(pair()), "internal error"),
    ("ncclCommSplit=3", lambda: (restart(), torch.distributed.new_group([0]).allreduce([x])), "internal error"),
]


def restart():
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
    torch.distributed.init_process_group("nccl", rank=0, world_size=1, store=torch.distributed.HashStore())
    torch.distributed.all_reduce(x)


def gather():
    torch.distributed.all_gather_into_tensor(torch.empty_like(x), x)


def pair():
    op, d = torch.distributed.P2POp, torch.distributed
    return [op(d.isend, x, 0), op(d.irecv, torch.empty_like(x), 0)]


def meet(fault, work, message):
    if fault.startswith("nccl"):
        restart()  # torch gives up a communicator after an error
    assert simulator.hw_sim_inject(fault.encode()) == 0
    try:
        work()
    except RuntimeError as error:
        met = str(error)
    else:
        met = "nothing was raised"
    finally:
        simulator.hw_sim_inject(b"")
    simulator.cudaGetLastError()
    if not re.search(message, met, re.IGNORECASE):
        raise AssertionError(f"{fault}: wanted {message!r}, met {met.splitlines()[0]!r}")
    assert (x + 1).tolist() == [2.0] * 8, fault


torch.cuda.synchronize()
table = GROUP if sys.argv[1] == "group" else ONE
wrong = []
for row in table:
    try:
        meet(*row)
    except AssertionError as error:
        wrong.append(str(error))
print("\n".join(wrong) or len(table), flush=True)
