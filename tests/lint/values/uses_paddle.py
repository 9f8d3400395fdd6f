"""Paddle's names, whose numpy() copies where torch's raises."""
import paddle
import paddle.distributed as dist


def _make_paddle_hook(sink, unknown):
    def hook(layer, inputs, outputs):
        if outputs.stop_gradient or outputs.shape[0] > 3 or outputs.is_dist():
            return
        unknown.numpy()  #! HW102
        outputs.numpy()  #! HW102
        paddle.nonzero(outputs)  #! HW104
        if paddle.isnan(outputs).any():  #! HW103
            sink.append(paddle.mean(outputs))
        dist.all_reduce(outputs)  #! HW207 HW201
        dist.all_gather_object([], 1)  #! HW202
        dist.barrier()  #! HW203
        paddle.device.synchronize()  #! HW106
        if dist.get_rank() == 0 and dist.get_world_size() > 1:
            sink.append(1)

    return hook
