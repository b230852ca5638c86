#!/usr/bin/env bash
# Makes every sample model again, here. Needs a Python with torch 2.13.0 and transformers 5.23.0 (PYTHON=… names it).
set -euo pipefail
cd "$(dirname "$0")"
sample() { "${PYTHON:-python3}" export.py "$@"; }

sample gpt2 gpt2_tiny.pt2 --batch 8 --seq 16 --set n_layer=4 n_embd=48 n_head=4 n_positions=64 vocab_size=320 \
  bos_token_id=0 eos_token_id=0
sample llama llama_tiny.pt2 --batch 8 --seq 16 --set num_hidden_layers=4 hidden_size=48 intermediate_size=144 \
  num_attention_heads=4 num_key_value_heads=2 vocab_size=320 max_position_embeddings=64
sample t5 t5_tiny.pt2 --batch 8 --seq 16 --target-seq 12 --set num_layers=2 num_decoder_layers=2 d_model=48 d_kv=12 \
  d_ff=144 num_heads=4 vocab_size=320 tie_word_embeddings=True decoder_start_token_id=0
sample gpt2 gpt2_1.5b.pt2 --fake --batch 8 --seq 1024 --set n_layer=48 n_embd=1600 n_head=25
sample llama llama3_8b.pt2 --fake --batch 2 --seq 8192 --set num_hidden_layers=32 hidden_size=4096 \
  intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8 vocab_size=128256 \
  max_position_embeddings=8192 rope_theta=500000.0
