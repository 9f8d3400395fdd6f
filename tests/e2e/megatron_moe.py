"""A mixture-of-experts GPT of megatron-core, forward and backward, under its own data parallelism with overlapped gradient reduction.
Under torchrun the ranks share the experts. Argument `probe`: one hook of ours, which reads the device, beside all of Megatron's."""

import os
import sys

import torch
import torch.distributed as dist

os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "1")
world = int(os.environ.get("WORLD_SIZE", 1))
torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
if world > 1:
    dist.init_process_group("nccl")
else:
    dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)

from megatron.core import parallel_state
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig, finalize_model_grads
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.models.gpt.gpt_model import GPTModel
from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
from megatron.core.transformer.moe import moe_utils
from megatron.core.transformer.transformer_config import TransformerConfig

moe_utils.te_general_gemm = None  # megatron-core 0.16.1 leaves it undefined where Transformer Engine is not installed


def _make_probe_hook():
    def hook(module, inputs, output):
        (output[0] if isinstance(output, tuple) else output).abs().max().item()

    return hook


parallel_state.initialize_model_parallel(1, 1, expert_model_parallel_size=world)
model_parallel_cuda_manual_seed(1)
config = TransformerConfig(
    num_layers=2,
    hidden_size=32,
    num_attention_heads=4,
    use_cpu_initialization=True,
    pipeline_dtype=torch.float32,
    num_moe_experts=4,
    moe_router_topk=2,
    moe_grouped_gemm=False,
    moe_token_dispatcher_type="alltoall",
    expert_model_parallel_size=world,
    add_bias_linear=False,
)
model = GPTModel(
    config=config,
    transformer_layer_spec=get_gpt_layer_local_spec(num_experts=4, moe_grouped_gemm=False),
    vocab_size=64,
    max_sequence_length=16,
).cuda()
if "probe" in sys.argv:
    model.decoder.layers[0].self_attention.core_attention.register_forward_hook(_make_probe_hook())
# A bucket size makes the reduction overlap on one rank too.
model = DistributedDataParallel(
    config=config, ddp_config=DistributedDataParallelConfig(overlap_grad_reduce=True, bucket_size=2000), module=model
)

ids = torch.arange(32, device="cuda").reshape(2, 16)
position = torch.arange(16, device="cuda").repeat(2, 1)
mask = torch.ones(1, 1, 16, 16, dtype=torch.bool, device="cuda").triu(1)
for _ in range(2):
    model.zero_grad_buffer()
    loss = model(ids, position, mask, labels=ids).mean()
    loss.backward()
    finalize_model_grads([model])
print(f"loss {loss.item():.3f}")
dist.destroy_process_group()
