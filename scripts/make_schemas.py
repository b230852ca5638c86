#!/usr/bin/env python3
"""Writes engine/graph/schemas.inc from the operator schemas of the installed torch.

    python scripts/make_schemas.py > engine/graph/schemas.inc

Kept: every aten overload that takes or returns a tensor, except variants with an `out` argument, lists of tensors
computed at once (_foreach, _fused), backward, sparse, quantized and vendor operators.
"""
import re
import sys

import torch

SKIPPED = re.compile(
    r"^aten::(_foreach|_fused|_cudnn|cudnn|miopen|mkldnn|_mkldnn|_sparse|sparse|_nested|_jagged|quantize|_quantize|fake_quant"
    r"|_fake_quant|fbgemm|_cslt|_thnn|_use_cudnn|_test|_validate|_amp|qscheme|q_|quantized|fused_moving|_scaled_grouped|_transformer"
    r"|_triton|_efficient|_flash|_assert_async|sym_storage|set_data|_wrapped|_coalesced|_values|_indices|crow_|ccol_|col_indices|row_indices"
    r"|_make_dep|_make_per|mps|_mps|_lstm_mps|lstm_mps|_nnpack|_conv_depthwise|slow_conv|_slow_conv|_batch_norm_impl|_convert_weight|_dyn"
    r"|_weight_int|_mixed|_int_mm|_padded|_to_sparse|to_sparse|to_mkldnn|_compressed|segment_reduce|_segment)"
    r"|_backward|_for_backward|backward\b|_copy$|_copy\.|retain_grad|requires_grad_"
)
COPIES = {"aten::lift_fresh_copy", "aten::_to_copy"}


def key(schema):
    return schema.name + ("." + schema.overload_name if schema.overload_name else "")


def dispatched(schema):
    try:
        torch._C._dispatch_find_schema_or_throw(schema.name, schema.overload_name)
    except RuntimeError:
        return False
    return True


def kept(schema):
    text = str(schema)
    if not schema.name.startswith("aten::") or (SKIPPED.search(key(schema)) and key(schema) not in COPIES):
        return False
    if any(a.is_out for a in schema.arguments) or "Dimname" in text or "Storage" in text or "Stream" in text:
        return False
    return dispatched(schema) and ("Tensor" in text or schema.name.startswith("aten::_assert"))


rows = sorted({key(s): str(s) for s in torch._C._jit_get_all_schemas() if kept(s)}.items())
print("// Written by scripts/make_schemas.py from torch " + torch.__version__.split("+")[0] + ": do not edit. Sorted by name.")
print("// clang-format off")
for name, text in rows:
    if not re.match(r"^[\w:.]+\(", text):
        sys.exit("unexpected schema " + text)
    print('R"(' + text + ')",' if '"' in text else '"' + text + '",')
