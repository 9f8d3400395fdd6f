"""CUDA tensors between processes: by a queue, as an argument, shared gradients, events, and after the sender's changes."""

import sys

import torch
import torch.multiprocessing as mp


def consumer(inbox, outbox):
    a, b, parameter = inbox.get()
    assert a.is_cuda and a.tolist() == [0.0, 1.0, 2.0, 3.0]
    a += 10
    b.fill_(7)
    parameter.data.mul_(3)
    torch.cuda.synchronize()
    outbox.put("changed")
    assert inbox.get() == "changed back"
    assert a.tolist() == [100.0] * 4
    large = torch.arange(1 << 20, device="cuda")
    outbox.put(large)
    assert inbox.get() == "seen"
    handle = inbox.get()
    event = torch.cuda.Event.from_ipc_handle(torch.device("cuda"), handle)
    event.synchronize()
    assert event.query()
    torch.cuda.current_stream().wait_event(event)
    outbox.put("event")
    inbox.get()


def train(index, model):
    model(torch.ones(2, 4, device="cuda")).sum().backward()
    with torch.no_grad():
        for p in model.parameters():
            p.sub_(p.grad)


if __name__ == "__main__":
    context = mp.get_context("spawn")
    inbox, outbox = context.Queue(), context.Queue()
    process = context.Process(target=consumer, args=(inbox, outbox))
    process.start()
    base = torch.arange(8.0, device="cuda")
    a, b, parameter = base[:4], torch.zeros(3, device="cuda"), torch.nn.Parameter(torch.ones(2, device="cuda"))
    inbox.put((a, b, parameter))
    assert outbox.get(timeout=60) == "changed"
    assert base.tolist() == [10.0, 11.0, 12.0, 13.0, 4.0, 5.0, 6.0, 7.0]
    assert b.tolist() == [7.0] * 3 and parameter.tolist() == [3.0] * 2
    a.fill_(100)
    inbox.put("changed back")
    large = outbox.get(timeout=60)
    assert torch.equal(large.cpu(), torch.arange(1 << 20))
    inbox.put("seen")
    event = torch.cuda.Event(interprocess=True)
    event.record()
    inbox.put(event.ipc_handle())
    assert outbox.get(timeout=60) == "event"
    inbox.put("end")
    process.join()
    assert process.exitcode == 0

    model = torch.nn.Linear(4, 2).cuda()
    before = [p.detach().cpu() for p in model.parameters()]
    model.share_memory()
    mp.spawn(train, (model,), nprocs=1)
    after = [p.detach().cpu() for p in model.parameters()]
    assert torch.equal(after[0], before[0] - 2) and torch.equal(after[1], before[1] - 2)
    print("ok")
