"""Tensors that are not one strided block: sparse, compressed and nested ones, as the strided parts they are made of."""

import torch

aten = torch.ops.aten
_BY_ROW = (torch.sparse_csr, torch.sparse_bsr)


def _compressed(tensor):
    return (aten.crow_indices, aten.col_indices) if tensor.layout in _BY_ROW else (aten.ccol_indices, aten.row_indices)


def storages(tensor):
    """The strided parts of a tensor, in a fixed order."""
    if tensor.is_nested:
        return [aten.values.default(tensor)]
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout == torch.strided:
        return [tensor]
    outer, inner = _compressed(tensor)
    return [outer(tensor), inner(tensor), aten.values.default(tensor)]


def rebuilt(tensor, change):
    """A tensor of the same layout and sizes whose strided parts are change(part)."""
    parts = [change(part) for part in storages(tensor)]
    if tensor.is_nested:
        return aten._nested_view_from_buffer(
            parts[0],
            aten._nested_tensor_size(tensor),
            aten._nested_tensor_strides(tensor),
            aten._nested_tensor_storage_offsets(tensor),
        )
    if tensor.layout == torch.sparse_coo:
        return aten._sparse_coo_tensor_unsafe(*parts, tensor.shape, is_coalesced=tensor.is_coalesced())
    return aten._sparse_compressed_tensor_unsafe(*parts, tensor.shape, layout=tensor.layout, device=parts[0].device)
