# What does --max-num-seqs do? One server, started twice, under the same chats.
#
#   rung run --var model_path=/models/qwen examples/vllm-sweep.hcl
#
# It takes no GPU: on two CPU cores, with vLLM's CPU build and a small model,
#
#   rung run --var command='["taskset", "-c", "0", "vllm"]' --var model_path=models/tiny \
#     --var 'options=["--enforce-eager", "--dtype", "float32"]' examples/vllm-sweep.hcl
#
# Each cell of the matrix is a run of its own: rung starts the server with the cell's
# flag, waits until it answers, idles, walks the ladder and ends the server, and then
# the next. `rung report` takes both runs and lays them side by side.

experiment "vllm-sweep" {
  description = "Streamed chats at two limits of sequences at once"
  seed        = 20261130
}

variable "command" {
  default     = ["vllm"]
  description = "The program vllm, and what stands before it"
}

variable "model_path" {
  default = "/models/qwen-0.5b"
}

variable "options" {
  type        = list(string)
  default     = []
  description = "Further flags of vllm serve"
}

variable "port" {
  default = 8131
}

matrix {
  max_num_seqs = [2, 8]
}

target {
  api   = "openai-chat"
  url   = "http://127.0.0.1:${var.port}"
  model = "chat"
}

server {
  command = concat(var.command, [
    "serve", var.model_path, "--served-model-name", "chat",
    "--host", "127.0.0.1", "--port=${var.port}",
    "--max-model-len", "2048",
    "--max-num-seqs=${matrix.max_num_seqs}",
    "--max-num-batched-tokens", "2048",
    "--no-enable-prefix-caching",
  ], var.options)
  env = {
    HF_HUB_OFFLINE      = "1"
    VLLM_NO_USAGE_STATS = "1"
    # On a CPU alone; a GPU's build of vLLM does not read them.
    VLLM_CPU_KVCACHE_SPACE    = "1"
    VLLM_CPU_OMP_THREADS_BIND = "nobind"
    OMP_NUM_THREADS           = "1"
  }
  ready {
    timeout = "10m" # of a large model, and of a small machine
  }
  stop {
    grace = "20s"
  }
}

# vLLM's own queue beside the latencies: where its running requests stop rising and the
# waiting ones begin, the limit is what is measured.
metrics {
  interval = "500ms"
}

prompt "chat" {
  tokens        = 64
  output_tokens = 32
  output        = "exact"
  stream        = true
}

baseline {
  idle     = "5s"
  warmup   = 3
  requests = 20
}

# Up to twice the larger limit.
ladder "concurrency" {
  rungs    = [1, 2, 4, 8, 16]
  passes   = 5
  cooldown = "2s"
}

analysis {
  use = "interactive"
}
