"""A small GPT of megatron-core trained in parallel, on devices or on the CPU with gloo: rank 0 prints the loss of each step as
JSON. Arguments: cuda or cpu, then the sizes tensor, pipeline, chunks (virtual pipeline stages), experts (0: none). Under torchrun.

Megatron asks for CUDA everywhere; on the CPU its few questions are answered here, so that the same model, schedule and
communication run there as the reference."""

import contextlib
import json
import os
import sys

import torch
import torch.distributed as dist

place = sys.argv[1]
tensor, pipeline, chunks, experts = map(int, sys.argv[2:6])
rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "1")
STEPS, MICROBATCHES, BATCH, LENGTH = 4, 4, 2, 16


def on_the_cpu():
    """What Megatron asks torch.cuda, answered for a machine that has none."""
    def itself(self, *_, **__):
        return self

    class Nothing(contextlib.nullcontext):
        def __getattr__(self, name):
            return lambda *_, **__: Nothing()

    torch.Tensor.cuda = torch.nn.Module.cuda = itself
    torch.cuda.current_device = lambda: torch.device("cpu")
    torch.cuda.get_rng_state = lambda *_, **__: torch.get_rng_state()
    torch.cuda.set_rng_state = lambda state, *_, **__: torch.set_rng_state(state)
    torch.cuda.manual_seed = torch.manual_seed
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.Stream = torch.cuda.current_stream = torch.cuda.Event = torch.cuda.stream = lambda *_, **__: Nothing()
    for name in ("FloatTensor", "HalfTensor", "BFloat16Tensor", "DoubleTensor", "LongTensor"):
        setattr(torch.cuda, name, getattr(torch, name))


if place == "cpu":
    on_the_cpu()
else:
    torch.cuda.set_device(rank)
dist.init_process_group("nccl" if place == "cuda" else "gloo")

from megatron.core import parallel_state, tensor_parallel
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig, finalize_model_grads
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.models.gpt.gpt_model import GPTModel
from megatron.core.pipeline_parallel import get_forward_backward_func
from megatron.core.tensor_parallel import random as megatron_random
from megatron.core.transformer.moe import moe_utils, token_dispatcher
from megatron.core.transformer.transformer_config import TransformerConfig

moe_utils.te_general_gemm = None  # megatron-core 0.16.1 leaves it undefined where Transformer Engine is not installed
if place == "cpu":
    token_dispatcher.maybe_move_tensor_to_cpu = lambda t, as_numpy=False, **_: t.numpy() if as_numpy and t is not None else t
    megatron_random._get_cuda_rng_state = lambda *_, **__: torch.get_rng_state()
    megatron_random._set_cuda_rng_state = lambda state, *_, **__: torch.set_rng_state(state)

parallel_state.initialize_model_parallel(
    tensor, pipeline, chunks if chunks > 1 else None, expert_model_parallel_size=max(experts, 1)
)
megatron_random.model_parallel_cuda_manual_seed(1)
torch.manual_seed(1)
config = TransformerConfig(
    num_layers=4,
    hidden_size=32,
    num_attention_heads=4,
    use_cpu_initialization=True,
    hidden_dropout=0.0,
    attention_dropout=0.0,
    tensor_model_parallel_size=tensor,
    pipeline_model_parallel_size=pipeline,
    virtual_pipeline_model_parallel_size=chunks if chunks > 1 else None,
    pipeline_dtype=torch.float32,
    num_moe_experts=4 if experts else None,
    moe_router_topk=2,
    moe_grouped_gemm=False,
    moe_token_dispatcher_type="alltoall",
    expert_model_parallel_size=max(experts, 1),
    add_bias_linear=False,
    finalize_model_grads_func=finalize_model_grads,
    bias_dropout_fusion=False,
    bias_activation_fusion=False,
    masked_softmax_fusion=False,
    gradient_accumulation_fusion=False,
)
spec = get_gpt_layer_local_spec(num_experts=4 if experts else None, moe_grouped_gemm=False)
models = []
for chunk in range(chunks):
    stage = {"vp_stage": chunk} if chunks > 1 else {}
    model = GPTModel(
        config=config,
        transformer_layer_spec=spec,
        vocab_size=64,
        max_sequence_length=LENGTH,
        pre_process=parallel_state.is_pipeline_first_stage(ignore_virtual=False, **stage),
        post_process=parallel_state.is_pipeline_last_stage(ignore_virtual=False, **stage),
        share_embeddings_and_output_weights=False,
        **stage,
    ).cuda()
    models.append(DistributedDataParallel(config=config, ddp_config=DistributedDataParallelConfig(), module=model))
optimizer = torch.optim.SGD([p for m in models for p in m.parameters()], lr=0.1)


def batch(step, number):
    numbers = torch.Generator().manual_seed(1000 * step + 10 * number + parallel_state.get_data_parallel_rank())
    ids = torch.randint(0, 64, (BATCH, LENGTH + 1), generator=numbers).cuda()
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


position = torch.arange(LENGTH).repeat(BATCH, 1).cuda()
mask = torch.ones(1, 1, LENGTH, LENGTH, dtype=torch.bool).triu(1).cuda()


def forward(iterator, model):
    ids, labels = next(iterator)
    output = model(ids, position, mask, labels=labels)

    def loss(result):
        mean = result.float().mean()
        return mean, {"loss": mean.detach().clone()}  # the schedule divides the other in place

    return output, loss


run = get_forward_backward_func()
losses = []
for step in range(STEPS):
    for model in models:
        model.zero_grad_buffer()
    feeds = [iter([batch(step, n) for n in range(MICROBATCHES)]) for _ in models]
    reduced = run(
        forward_step_func=forward,
        data_iterator=feeds if chunks > 1 else feeds[0],
        model=models if chunks > 1 else models[0],
        num_microbatches=MICROBATCHES,
        seq_length=LENGTH,
        micro_batch_size=BATCH,
        forward_only=False,
    )
    for model in models:
        for parameter in model.parameters():
            parameter.grad = parameter.main_grad.to(parameter.dtype)
    optimizer.step()
    last = torch.stack([r["loss"] for r in reduced]).mean() if reduced else torch.zeros(()).cuda()
    everywhere = torch.stack([last, torch.tensor(1.0 if reduced else 0.0).cuda()])
    dist.all_reduce(everywhere)
    losses.append((everywhere[0] / everywhere[1]).item())
if rank == 0:
    print(json.dumps({"losses": losses}))
dist.destroy_process_group()
