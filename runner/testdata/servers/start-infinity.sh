#!/bin/bash
# start-infinity.sh [start|stop|install]: infinity-emb 0.0.78 with MiniLM on :8121, OpenAI paths under /v1. 4.9 GB on disk alone (PyPI torch is the CUDA build); 0.3 GB more beside vLLM's venv (uv hardlinks).
. "$(dirname "$0")/common.sh"
[ "${1:-start}" = stop ] && { halt infinity; exit 0; }
mkvenv infinity-venv
$D/infinity-venv/bin/python -c 'import importlib.metadata as m; m.version("infinity-emb"); m.version("torch")' 2>/dev/null || $UV pip install -q --python $D/infinity-venv/bin/python 'infinity-emb[server,torch]==0.0.78' torch==2.13.0
minilm >/dev/null
[ "${1:-start}" = install ] && exit 0
export OMP_NUM_THREADS=1 INFINITY_ANONYMOUS_USAGE_STATS=0 INFINITY_QUEUE_SIZE=${QUEUE:-32000}
launch infinity http://127.0.0.1:8121/health 200 ${PIN-taskset -c 0} $D/infinity-venv/bin/infinity_emb v2 --model-id $(minilm) --served-model-name minilm --engine torch --device cpu --dtype float32 --no-bettertransformer --no-model-warmup --host 127.0.0.1 --port 8121 --batch-size ${BATCH:-8} --url-prefix /v1 --lengths-via-tokenize
