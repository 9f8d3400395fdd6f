"""What value mode knows of single operators: tables, one row per fact."""

import torch

# Operators of these namespaces are computed; others are taken apart (their own kernels run with the mode on).
COMPUTED_NAMESPACES = frozenset(["aten", "prims", "fsdp"])

# Operators that compute nothing: they allocate, describe, or copy bytes as they are.
PASS = frozenset(
    "aten::" + name
    for name in """_local_scalar_dense alias detach empty empty_like empty_strided empty_quantized is_pinned _pin_memory lift
    lift_fresh new_empty new_empty_strided record_stream resize_ set_ _has_compatible_shallow_copy_type is_same_size
    _fused_sdp_choice _cudnn_init_dropout_state _efficientzerotensor sym_size sym_stride sym_numel sym_storage_offset size
    stride dim numel is_contiguous is_non_overlapping_and_dense item _reshape_alias _unsafe_view
    _assert_tensor_metadata _nested_get_offsets _use_cudnn_ctc_loss _use_miopen_ctc_loss _cudnn_rnn_flatten_weight
    _nnz _dimI _dimV sparse_dim dense_dim is_coalesced _nested_tensor_size _nested_tensor_strides
    _nested_tensor_storage_offsets _nested_view_from_buffer""".split()
)


# Operators whose own code reads back what it computed on the way: run with the mode on inside them.
TAKEN_APART = frozenset("aten::" + name for name in "_linalg_check_errors allclose is_nonzero isin linalg_pinv".split())

# Operators that decide by what they computed on the way, but have kernels of their own between: run with the mode on inside
# them for the calls, and computed as a whole for the values.
DECIDES = frozenset(["aten::linalg_matrix_exp"])


def _mask_counts(masks):
    return [int(m.count_nonzero()) for m in masks if isinstance(m, torch.Tensor) and m.dtype in (torch.bool, torch.uint8)]


def _bits(number, dtype):
    """The number as the bytes a copy of its type would deliver."""
    wide = torch.int64 if dtype.itemsize == 8 else torch.int32
    return number.to(dtype).reshape(1).view(wide).item() if dtype.itemsize in (4, 8) else 0


def _range(a, k):
    """histc asks for the smallest and largest element unless the range is given."""
    low, high = (*a, *(100, 0, 0)[len(a) - 1 :])[2:4]
    if k.get("min", low) != k.get("max", high) or not a[0].numel():
        return []
    return [_bits(a[0].min(), a[0].dtype), _bits(a[0].max(), a[0].dtype)]


def _coalesced(matrix):
    """A product sorts its sparse matrix first."""
    return [] if matrix.layout != torch.sparse_coo or matrix.is_coalesced() else [matrix.coalesce()._nnz()]


# What an operator reads back from the device while it runs, in order; a function of its arguments and its result.
_READS = {
    "aten::nonzero": lambda a, k, r: [r.shape[0]],
    "aten::nonzero_static": lambda a, k, r: [],
    "aten::masked_select": lambda a, k, r: [r.shape[0]],
    "aten::index_put_": lambda a, k, r: _mask_counts(a[1]),
    "aten::index_put": lambda a, k, r: _mask_counts(a[1]),
    "aten::_index_put_impl_": lambda a, k, r: _mask_counts(a[1]),
    "aten::index": lambda a, k, r: _mask_counts(a[1]),
    "aten::_to_sparse": lambda a, k, r: [int(a[0].count_nonzero()), r._nnz()] if r.layout == torch.sparse_coo else [],
    "aten::_to_sparse_csr": lambda a, k, r: [r._nnz()] * 8,
    "aten::_to_sparse_csc": lambda a, k, r: [r._nnz()] * 8,
    "aten::_to_sparse_bsr": lambda a, k, r: [r.values().shape[0]] * 8,
    "aten::_to_sparse_bsc": lambda a, k, r: [r.values().shape[0]] * 8,
    "aten::_coalesce": lambda a, k, r: [r._nnz()],
    "aten::mm": lambda a, k, r: _coalesced(a[0]),
    "aten::addmm": lambda a, k, r: _coalesced(a[1]),
    "aten::histc": lambda a, k, r: _range(a, k),
    "aten::equal": lambda a, k, r: [int(r)],
    "aten::repeat_interleave": lambda a, k, r: [] if k.get("output_size") is not None else [r.shape[0], 1],
    "aten::unique_dim": lambda a, k, r: [r[0].shape[a[1]]] * 3,
    "aten::_ctc_loss": lambda a, k, r: [],
    # These check their own success on the device; linalg_eig asks first whether all is finite.
    "aten::linalg_lstsq": lambda a, k, r: [0] * 8,
    "aten::linalg_eig": lambda a, k, r: [1] + [0] * 8,
    "aten::_linalg_svd": lambda a, k, r: [0] * 8,
    "aten::_linalg_eigh": lambda a, k, r: [0] * 8,
    "aten::segment_reduce": lambda a, k, r: [1] * 8,  # its checks of the lengths hold
    "aten::bincount": lambda a, k, r: [int(a[0].min()), int(a[0].max())] if a[0].numel() else [],
}


def host_reads(name, func):
    """The function that says what `func` reads back, or None when it reads nothing a value decides."""
    if name in _READS:
        return _READS[name]
    if torch.Tag.dynamic_output_shape in func.tags:
        return lambda a, k, r: [(r[0] if isinstance(r, (tuple, list)) else r).shape[0]] * 3
    return None
