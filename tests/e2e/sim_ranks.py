"""Collectives between ranks with their values checked. Started by torchrun; argument: which part."""

import os
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def start(**options):
    dist.init_process_group("nccl", **options)


def values():
    start(device_id=torch.device("cuda", rank))
    operations = {
        dist.ReduceOp.SUM: lambda ts: torch.stack(ts).sum(0),
        dist.ReduceOp.PRODUCT: lambda ts: torch.stack(ts).prod(0),
        dist.ReduceOp.MAX: lambda ts: torch.stack(ts).amax(0),
        dist.ReduceOp.MIN: lambda ts: torch.stack(ts).amin(0),
        dist.ReduceOp.AVG: lambda ts: torch.stack(ts).mean(0),
    }
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.uint8, torch.int8):
        base = torch.tensor([1.0, 2.5, -3.0, 0.125, 60.0]).to(dtype)
        for operation, reference in operations.items():
            if operation == dist.ReduceOp.AVG and not dtype.is_floating_point:
                continue
            wide = dtype if not dtype.is_floating_point else torch.float64
            expected = reference([(base * (r + 1)).to(wide) for r in range(world)]).to(dtype)
            mine = (base * (rank + 1)).cuda()
            dist.all_reduce(mine, operation)
            assert torch.equal(mine.cpu(), expected), (dtype, operation, mine, expected)

    large = torch.full((300_001,), rank + 1.0).cuda()
    dist.all_reduce(large)
    assert (large.cpu() == world * (world + 1) / 2).all()
    empty = torch.empty(0).cuda()
    dist.all_reduce(empty)

    out = torch.zeros(4 * world).cuda()
    dist.all_gather_into_tensor(out, torch.full((4,), float(rank)).cuda())
    assert torch.equal(out.cpu(), torch.arange(world).float().repeat_interleave(4))
    part = torch.zeros(2).cuda()
    dist.reduce_scatter_tensor(part, torch.arange(2.0 * world).cuda())
    assert torch.equal(part.cpu(), torch.arange(2.0 * world)[2 * rank : 2 * rank + 2] * world)
    swapped = torch.zeros(2 * world).cuda()
    dist.all_to_all_single(swapped, (torch.arange(2.0 * world) + 100 * rank).cuda())
    assert swapped.tolist() == [2.0 * rank + i + 100 * r for r in range(world) for i in range(2)]
    scaled = torch.full((3,), rank + 1.0).cuda()
    dist.all_reduce(scaled, dist._make_nccl_premul_sum(0.5))
    assert scaled.tolist() == [world * (world + 1) / 4] * 3

    last = torch.full((3,), float(rank)).cuda()
    dist.broadcast(last, src=world - 1)
    assert last.tolist() == [world - 1.0] * 3
    total = torch.full((3,), rank + 1.0).cuda()
    dist.reduce(total, dst=0)
    assert rank or total.tolist() == [world * (world + 1) / 2] * 3
    parts = [torch.zeros(2).cuda() for _ in range(world)] if rank == 0 else None
    dist.gather(torch.full((2,), float(rank)).cuda(), parts, dst=0)
    assert rank or [p.tolist() for p in parts] == [[r, r] for r in range(world)]
    mine = torch.zeros(2).cuda()
    dist.scatter(mine, [torch.full((2,), r + 7.0).cuda() for r in range(world)] if rank == 0 else None, src=0)
    assert mine.tolist() == [rank + 7.0] * 2

    right, left = (rank + 1) % world, (rank - 1) % world
    got = torch.zeros(100_000).cuda()
    given = torch.full((100_000,), float(rank)).cuda()
    for work in dist.batch_isend_irecv([dist.P2POp(dist.irecv, got, left), dist.P2POp(dist.isend, given, right)]):
        work.wait()
    assert (got.cpu() == left).all()
    uneven = torch.zeros(sum(range(1, world + 1)) if rank == 0 else world).cuda()
    sizes = [1] * world if rank else list(range(1, world + 1))
    lengths = [rank + 1 if r == 0 else 1 for r in range(world)]
    dist.all_to_all_single(uneven, torch.full((sum(lengths),), float(rank)).cuda(), sizes, lengths)
    assert uneven.tolist() == [float(r) for r, n in enumerate(sizes) for _ in range(n)]

    objects = [None] * world
    dist.all_gather_object(objects, {"rank": rank, "text": "x" * rank * 10})
    assert objects == [{"rank": r, "text": "x" * r * 10} for r in range(world)]
    both = ["hello", {"a": 1}] if rank == 0 else [None, None]
    dist.broadcast_object_list(both, src=0)
    assert both == ["hello", {"a": 1}]

    groups = [dist.new_group([r]) for r in range(world)] + [dist.new_group(list(range(world)))]
    for number, group in enumerate(groups):
        if number in (rank, world):
            t = torch.ones(2).cuda()
            dist.all_reduce(t, group=group)
            assert t.tolist() == [float(group.size())] * 2
    work = dist.all_reduce(torch.ones(4).cuda(), async_op=True)
    work.wait()
    dist.barrier()
    dist.destroy_process_group()


def asynchronous():
    """Two ranks use two communicators in opposite order, without a wait between: a device does both, a host that waits hangs."""
    start()
    groups = [dist.new_group([0, 1]), dist.new_group([0, 1])]
    for group in groups:  # communicators are made at their first use
        dist.all_reduce(torch.ones(1).cuda(), group=group)
    torch.cuda.synchronize()
    tensors = [torch.full((4,), rank + 1.0).cuda() for _ in groups]
    works = [dist.all_reduce(tensors[i], group=groups[i], async_op=True) for i in ((0, 1) if rank == 0 else (1, 0))]
    for work in works:
        work.wait()
    torch.cuda.synchronize()
    assert [t.tolist() for t in tensors] == [[3.0] * 4] * 2
    opposite_with_work_between(groups)
    unfinished()


def opposite_with_work_between(groups):
    """Work that does not depend on the first collective goes on before the second is begun, values and all."""
    for step in range(5):
        tensors, other = [torch.full((4,), rank + 1.0).cuda() for _ in groups], torch.ones(4).cuda()
        works = []
        for i in (0, 1) if rank == 0 else (1, 0):
            works.append(dist.all_reduce(tensors[i], group=groups[i], async_op=True))
            other = (other * 2 + step).relu()
            assert other.sum().item() == other.sum().cpu()
        for work in works:
            work.wait()
        total = tensors[0] + tensors[1] + other
        assert total.tolist() == [6.0 + 4 + 3 * step] * 4, total


def unfinished():
    """What nobody answers is not ready, and host waits wait for it."""
    dist.barrier()
    if rank == 0:
        t, event = torch.ones(1 << 20).cuda(), torch.cuda.Event()
        work = dist.all_reduce(t, async_op=True)
        work.wait()
        event.record()
        for _ in range(50):
            assert not event.query() and not torch.cuda.current_stream().query()
        open(sys.argv[2], "w").close()
        event.synchronize()
        assert event.query() and t[0].item() == 2.0
    else:
        wait_for_file(sys.argv[2])
        t = torch.ones(1 << 20).cuda()
        dist.all_reduce(t)
        torch.cuda.synchronize()
    missing()


def missing():
    """One rank never comes: it is named, and an abort lets the host that waits for it go on."""
    said = sys.argv[2] + ".said"
    if rank == 0:
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        threading.Thread(target=abort_when_said, args=(said,)).start()
        dist.all_reduce(torch.ones(1).cuda())
        torch.cuda.synchronize()
        open(said + ".done", "w").close()
    wait_for_file(said + ".done")
    sys.stdout.write(f"rank {rank} went on\n")
    sys.stdout.flush()
    os._exit(0)  # what was aborted cannot be destroyed


def killed():
    """The last rank dies without a word while the others wait for it; torch's watchdog gives them up."""
    from datetime import timedelta

    start(timeout=timedelta(seconds=2))
    dist.all_reduce(torch.ones(1).cuda())
    torch.cuda.synchronize()
    if rank == world - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(torch.ones(1 << 20).cuda())
    torch.cuda.synchronize()
    while True:  # until the watchdog ends the process
        time.sleep(0.1)


def shrink():
    """The ranks that are left make a smaller communicator, though the last one has died."""
    start(device_id=torch.device("cuda", rank))
    dist.all_reduce(torch.ones(1).cuda())
    torch.cuda.synchronize()
    if rank == world - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(torch.ones(4).cuda(), async_op=True)
    smaller = dist.shrink_group([world - 1], shrink_flags=dist.distributed_c10d.SHRINK_ABORT)
    t = torch.full((4,), rank + 1.0).cuda()
    dist.all_reduce(t, group=smaller)
    assert smaller.size() == world - 1 and t.tolist() == [(world - 1) * world / 2] * 4
    sys.stdout.write(f"rank {rank} of {smaller.size()}\n")
    sys.stdout.flush()
    os._exit(0)


def abort_when_said(path):
    while "STUCK" not in open(path).read():
        time.sleep(0.01)
    dist.distributed_c10d._abort_process_group()


def wait_for_file(path):
    while not os.path.exists(path):
        time.sleep(0.01)


globals()[sys.argv[1]]()
sys.stdout.write(f"rank {rank} {sys.argv[1]}\n")  # in one piece
