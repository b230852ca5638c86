#!/usr/bin/env bash
# Makes the sample models again, here. Needs a Python with torch 2.13.0 and transformers 5.23.0 (PYTHON=… names it).
#
#   make.sh                 all of them
#   make.sh NAME …          some of them: make.sh swin_tiny bert_tiny
#   make.sh --large FOLDER  Llama-3 405B and DeepSeek-V3 671B, for tests of scale; they are too large to be kept here
#   make.sh --wide FOLDER   the tiny ones with operators that take milliseconds, for tests of predicted times
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
folder="$(dirname "$0")"
wanted=("$@")
if [[ "${1:-}" == --large ]]; then
  out="${2:?make.sh: --large needs a folder}"
  wanted=(llama3_405b deepseek_v3)
elif [[ "${1:-}" == --wide ]]; then
  out="${2:?make.sh: --wide needs a folder}"
  wanted=(gpt2_wide gpt2_dropout_wide llama_wide t5_wide bert_wide swin_wide mixtral_wide evoformer_wide)
else
  out="$folder"
fi

made=0

# sample NAME MODEL_TYPE ARGUMENTS…
sample() {
  local name="$1"
  shift
  if ((${#wanted[@]})) && [[ " ${wanted[*]} " != *" $name "* ]]; then return; fi
  made=$((made + 1))
  "${PYTHON:-python3}" "$folder/export.py" "$1" "$out/$name.pt2" "${@:2}"
}

sample gpt2_tiny gpt2 --batch 8 --seq 16 --set n_layer=4 n_embd=48 n_head=4 n_positions=64 vocab_size=320 \
  bos_token_id=0 eos_token_id=0
sample llama_tiny llama --batch 8 --seq 16 --set num_hidden_layers=4 hidden_size=48 intermediate_size=144 \
  num_attention_heads=4 num_key_value_heads=2 vocab_size=320 max_position_embeddings=64
sample t5_tiny t5 --batch 8 --seq 16 --target-seq 12 --set num_layers=2 num_decoder_layers=2 d_model=48 d_kv=12 \
  d_ff=144 num_heads=4 vocab_size=320 tie_word_embeddings=True decoder_start_token_id=0
sample bert_tiny bert --batch 8 --seq 16 --set num_hidden_layers=4 hidden_size=48 intermediate_size=144 \
  num_attention_heads=4 vocab_size=320 max_position_embeddings=64
sample swin_tiny swin --batch 8 --set image_size=32 patch_size=2 embed_dim=32 depths=[2,2] num_heads=[4,8] \
  window_size=4 num_labels=16
sample mixtral_tiny mixtral --batch 8 --seq 16 --set num_hidden_layers=4 hidden_size=48 intermediate_size=96 \
  num_attention_heads=4 num_key_value_heads=2 num_local_experts=4 num_experts_per_tok=2 vocab_size=320 \
  max_position_embeddings=64 experts_implementation=grouped_mm
sample evoformer_tiny evoformer --batch 8 --seq 8 --set blocks=4 rows=4 msa_width=32 pair_width=16 heads=4 vocab=24 \
  bins=16 passes=3
sample deepseek_tiny deepseek_v3 --batch 1 --seq 16 --set num_hidden_layers=3 first_k_dense_replace=1 hidden_size=48 \
  intermediate_size=96 moe_intermediate_size=32 num_attention_heads=4 num_key_value_heads=4 q_lora_rank=24 \
  kv_lora_rank=16 qk_nope_head_dim=8 qk_rope_head_dim=4 qk_head_dim=12 head_dim=4 v_head_dim=8 n_routed_experts=8 \
  num_experts_per_tok=2 n_group=2 topk_group=1 vocab_size=320 max_position_embeddings=64 \
  experts_implementation=grouped_mm
sample gpt2_dropout_tiny gpt2 --dropout 0.1 --batch 8 --seq 16 --set n_layer=4 n_embd=48 n_head=4 n_positions=64 \
  vocab_size=320 bos_token_id=0 eos_token_id=0

sample gpt2_124m gpt2 --fake --batch 8 --seq 1024
sample gpt2_1.5b gpt2 --fake --batch 8 --seq 1024 --set n_layer=48 n_embd=1600 n_head=25
sample llama3_8b llama --fake --batch 2 --seq 8192 --set num_hidden_layers=32 hidden_size=4096 \
  intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8 vocab_size=128256 \
  max_position_embeddings=8192 rope_theta=500000.0
sample t5_large t5 --fake --batch 8 --seq 512 --set num_layers=24 num_decoder_layers=24 d_model=1024 d_kv=64 d_ff=4096 \
  num_heads=16 vocab_size=32128 tie_word_embeddings=True decoder_start_token_id=0
sample swin_large swin --fake --batch 16 --set embed_dim=192 depths=[2,2,18,2] num_heads=[6,12,24,48] window_size=7 \
  image_size=224 num_labels=1000
sample mixtral_8x7b mixtral --fake --batch 2 --seq 4096 --set num_hidden_layers=32 hidden_size=4096 \
  intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8 num_local_experts=8 num_experts_per_tok=2 \
  vocab_size=32000 max_position_embeddings=32768 rope_theta=1000000.0 experts_implementation=grouped_mm
if [[ "${1:-}" == --large ]]; then
  sample llama3_405b llama --fake --batch 1024 --seq 8192 --set num_hidden_layers=126 hidden_size=16384 \
    intermediate_size=53248 num_attention_heads=128 num_key_value_heads=8 vocab_size=128256 \
    max_position_embeddings=8192 rope_theta=500000.0
  sample deepseek_v3 deepseek_v3 --fake --no-check --batch 1 --seq 4096 --set experts_implementation=grouped_mm
fi
if [[ "${1:-}" == --wide ]]; then
  sample gpt2_wide gpt2 --fake --batch 16 --seq 64 --set n_layer=4 n_embd=512 n_head=4 n_positions=64 vocab_size=2560 \
    bos_token_id=0 eos_token_id=0
  sample gpt2_dropout_wide gpt2 --fake --dropout 0.1 --batch 16 --seq 64 --set n_layer=4 n_embd=512 n_head=4 \
    n_positions=64 vocab_size=2560 bos_token_id=0 eos_token_id=0
  sample llama_wide llama --fake --batch 16 --seq 64 --set num_hidden_layers=4 hidden_size=512 intermediate_size=1536 \
    num_attention_heads=4 num_key_value_heads=2 vocab_size=2560 max_position_embeddings=64
  sample t5_wide t5 --fake --batch 16 --seq 64 --target-seq 48 --set num_layers=2 num_decoder_layers=2 d_model=512 \
    d_kv=128 d_ff=1536 num_heads=4 vocab_size=2560 tie_word_embeddings=True decoder_start_token_id=0
  sample bert_wide bert --fake --batch 16 --seq 64 --set num_hidden_layers=4 hidden_size=512 intermediate_size=1536 \
    num_attention_heads=4 vocab_size=2560 max_position_embeddings=64
  sample swin_wide swin --fake --batch 16 --set image_size=64 patch_size=4 embed_dim=192 depths=[2,2] num_heads=[4,8] \
    window_size=4 num_labels=16
  sample mixtral_wide mixtral --fake --batch 16 --seq 64 --set num_hidden_layers=4 hidden_size=384 \
    intermediate_size=768 num_attention_heads=4 num_key_value_heads=2 num_local_experts=4 num_experts_per_tok=2 \
    vocab_size=2560 max_position_embeddings=64 experts_implementation=grouped_mm
  sample evoformer_wide evoformer --fake --batch 16 --seq 16 --set blocks=4 rows=16 msa_width=128 pair_width=64 heads=4 \
    vocab=24 bins=16 passes=3
fi

if ((made == 0 || (${#wanted[@]} && made < ${#wanted[@]}))); then
  echo "make.sh: no sample is called one of: ${wanted[*]}" >&2
  exit 1
fi
