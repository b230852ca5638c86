#!/usr/bin/env python3
"""Exports a training step's forward pass of a model to a `.pt2` file that planscope opens.

The model is built from a `transformers` configuration (a model type, plus fields to override), so nothing is
downloaded; `evoformer` is a model of our own, beside this file. Its forward returns the loss. Dropout is 0 unless
--dropout says otherwise, and caches are off. Needs torch 2.9 or later and transformers.

    export.py gpt2 gpt2_tiny.pt2 --batch 8 --seq 16 --set n_layer=4 n_embd=48 n_head=4 vocab_size=320
    export.py llama llama3_8b.pt2 --fake --batch 2 --seq 8192 --set hidden_size=4096 num_hidden_layers=32 ...

--fake builds the full-size model without weights: the file holds shapes only, and stays small.
"""
import argparse
import ast
import contextlib
import json
import logging
import math
import os
import pathlib
import re
import sys
import tempfile

import torch
import transformers
from torch._subclasses.fake_tensor import FakeTensorMode

import evoformer

HEADS = {
    "causal": transformers.AutoModelForCausalLM,
    "seq2seq": transformers.AutoModelForSeq2SeqLM,
    "masked": transformers.AutoModelForMaskedLM,
    "image": transformers.AutoModelForImageClassification,
}


def guess_head(config):
    """The first kind of model that `transformers` knows for this configuration and that has a loss."""
    order = ["seq2seq", "causal", "masked", "image"] if config.is_encoder_decoder else list(HEADS)
    for name in ["masked", *order] if "bert" in config.model_type else order:
        if type(config) in HEADS[name]._model_mapping:
            return name
    raise SystemExit(f"export.py: no model with a loss is known for '{config.model_type}'; known kinds: {', '.join(HEADS)}")


def make_config(model_type, overrides, dropout):
    config = transformers.AutoConfig.for_model(model_type, **overrides)
    for key, value in vars(config).items():
        if re.search(r"drop|pdrop", key) and isinstance(value, float):
            setattr(config, key, dropout)
    config.use_cache = False
    config.return_dict = True
    if config.is_encoder_decoder and getattr(config, "decoder_start_token_id", None) is None:
        config.decoder_start_token_id = 0
    return config


def build(head, config, dtype, attention):
    try:
        model = HEADS[head].from_config(config, dtype=dtype, attn_implementation=attention)
    except (ValueError, ImportError):
        model = HEADS[head].from_config(config, dtype=dtype, attn_implementation="eager")
    return model.train()


def strip_weights(model, mode):
    """Replaces every parameter, buffer and tensor attribute (on `meta`) by a fake one on the CPU; ties stay ties."""
    fakes = {}

    def fake(tensor):
        if id(tensor) not in fakes:
            with mode:
                new = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")
            if isinstance(tensor, torch.nn.Parameter):
                new = torch.nn.Parameter(new, requires_grad=tensor.requires_grad)
            fakes[id(tensor)] = (new, tensor)  # keeps the original alive, so that its id stays its own
        return fakes[id(tensor)][0]

    for module in model.modules():
        for table in (module._parameters, module._buffers, module.__dict__):
            for name, value in table.items():
                if isinstance(value, torch.Tensor):
                    table[name] = fake(value)


def return_loss(model):
    """Makes forward return the loss alone. The class is extended rather than the model wrapped, so that module paths
    stay those of the model (`transformer.h.0.attn`)."""
    base = type(model)
    model.__class__ = type(base.__name__, (base,), {"forward": lambda self, **inputs: base.forward(self, **inputs).loss})
    return model


def make_inputs(head, config, args):
    generator = torch.Generator().manual_seed(args.seed)

    def tokens(length):
        return torch.randint(1, config.vocab_size, (args.batch, length), generator=generator)

    if head == "image":
        size = config.image_size if isinstance(config.image_size, int) else config.image_size[0]
        pixels = torch.randn(args.batch, config.num_channels, size, size, generator=generator)
        pixels = pixels.to(getattr(torch, args.dtype))
        return {"pixel_values": pixels, "labels": torch.randint(0, config.num_labels, (args.batch,), generator=generator)}
    ids = tokens(args.seq)
    if head == "seq2seq":
        return {"input_ids": ids, "labels": tokens(args.target_seq or args.seq)}
    return {"input_ids": ids, "labels": ids.clone()}


def hugging_face(args):
    """The inputs, and a function that builds the model."""
    config = make_config(args.model_type, dict(args.set), args.dropout)
    head = args.head or guess_head(config)
    dtype = getattr(torch, args.dtype)
    return make_inputs(head, config, args), lambda: return_loss(build(head, config, dtype, args.attention))


def own(args):
    """The same for the model of our own."""
    config = evoformer.Config(**dict(args.set))
    generator = torch.Generator().manual_seed(args.seed)
    inputs = evoformer.make_inputs(config, args.batch, args.seq, generator)
    return inputs, lambda: evoformer.Model(config).to(getattr(torch, args.dtype))


def export(args):
    inputs, build_model = own(args) if args.model_type == "evoformer" else hugging_face(args)
    torch.manual_seed(args.seed)
    mode = FakeTensorMode() if args.fake else contextlib.nullcontext()
    with torch.device("meta") if args.fake else contextlib.nullcontext():
        model = build_model()
    if args.fake:
        strip_weights(model, mode)
        inputs = {name: mode.from_tensor(tensor) for name, tensor in inputs.items()}
    print(f"{args.output.name}: {sum(p.numel() for p in model.parameters()):,} parameters")
    with mode:
        return torch.export.export(model, (), inputs, strict=False)


def source_line(stack_trace):
    """`modeling_gpt2.py:123`: the innermost frame of a stack trace that is not in torch itself, without its folder."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', stack_trace)
    own = [frame for frame in frames if "/torch/" not in frame[0] and frame[0] != __file__]
    return f"{pathlib.PurePath(own[-1][0]).name}:{own[-1][1]}" if own else None


def tidy_metadata(value):
    """Drops source text and the exporting machine's paths from every node's metadata, keeps a short `source`."""
    if isinstance(value, dict):
        if "stack_trace" in value:
            source = source_line(value.pop("stack_trace"))
            if source:
                value["source"] = source
        if "nn_module_stack" in value:  # `key,path,package.module.Class;…`: the class says enough
            value["nn_module_stack"] = re.sub(r"[\w.]+\.(\w+)(?=;|$)", r"\1", value["nn_module_stack"])
        value.pop("source_fn_stack", None)
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        tidy_metadata(child)


def largest_first(weights):
    """Weights without values share one empty record, and `torch.export.load` gives it the size of the first of them."""

    def elements(item):
        return math.prod(size["as_int"] for size in item[1]["tensor_meta"]["sizes"])

    return dict(sorted(weights.items(), key=elements, reverse=True))


def rewrite(source, target, fake):
    """Copies the archive with tidy metadata, by torch's own writer: same container, same alignment."""
    reader = torch._C.PyTorchFileReader(str(source))
    writer = torch._C.PyTorchFileWriter(str(target))
    for name in reader.get_all_records():
        if name.startswith(".data/") or name == "version":
            continue  # the writer adds its own
        data = reader.get_record(name)
        if re.fullmatch(r"models/[^/]+\.json", name):
            model = json.loads(data)
            tidy_metadata(model)
            data = json.dumps(model, separators=(",", ":")).encode()
        elif fake and name.endswith("_weights_config.json"):
            table = json.loads(data)
            table["config"] = largest_first(table["config"])
            data = json.dumps(table, separators=(",", ":")).encode()
        writer.write_record(name, data, len(data))
    writer.write_end_of_file()


def check(path, fake):
    """The file loads; with weights, the loss is finite and its backward runs."""
    logging.getLogger("torch._export.serde.serialize").setLevel(logging.ERROR)  # fake sample inputs are fine here
    program = torch.export.load(str(path))
    if fake:
        print(f"{path.name}: {path.stat().st_size:,} bytes, no weights")
        return
    loss = program.module()(**program.example_inputs[1])
    loss.backward()
    if loss.dim() != 0 or not torch.isfinite(loss):
        raise SystemExit(f"export.py: the loss is {loss}, not a finite number")
    print(f"{path.name}: {path.stat().st_size:,} bytes, loss {loss.item():.4f}")


def setting(text):
    key, _, value = text.partition("=")
    with contextlib.suppress(ValueError, SyntaxError):
        value = ast.literal_eval(value)
    return key, value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model_type", help="a transformers model type (gpt2, llama, t5, bert, ...), or evoformer")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--set", nargs="*", type=setting, default=[], metavar="FIELD=VALUE", help="configuration fields")
    parser.add_argument("--head", choices=HEADS, help="the kind of loss; default: the usual one of the model type")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seq", type=int, default=16)
    parser.add_argument("--target-seq", type=int, help="length of the labels of an encoder-decoder; default: --seq")
    parser.add_argument("--dropout", type=float, default=0.0, help="every dropout probability of the configuration")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--attention", default="sdpa", choices=["sdpa", "eager"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fake", action="store_true", help="no weights: full-size models in small files")
    parser.add_argument("--no-check", action="store_true", help="do not load the file again, which takes the largest parameter's memory")
    args = parser.parse_args()
    program = export(args)
    with tempfile.TemporaryDirectory(dir=args.output.parent) as folder:
        raw = pathlib.Path(folder) / "raw.pt2"
        tidy = pathlib.Path(folder) / args.output.name  # the archive's root folder is the file's stem
        torch.export.save(program, raw)
        rewrite(raw, tidy, args.fake)
        if not args.no_check:
            check(tidy, args.fake)
        os.replace(tidy, args.output)


if __name__ == "__main__":
    sys.exit(main())
