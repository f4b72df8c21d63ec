# Did the change take effect, and is the server no worse for it? The same work before and
# after, with the limit as a variable.
#
#   rung run --var max_num_seqs=64 examples/verify-limits.hcl   # before: prints its folder
#   rung report BEFORE                                          # what to configure
#   rung run --var max_num_seqs=8  examples/verify-limits.hcl   # after the change
#   rung compare BEFORE AFTER
#   rung gate AFTER --against BEFORE                            # exit status 3: roll it back
#   rung run --canary BEFORE --var max_num_seqs=8 examples/verify-limits.hcl
#
# The last is the short form of the third, to be run again and again: at the limits that
# BEFORE found and at nothing else, and the gate takes it as well.
#
# Both runs have one workload hash: the server's flags are no part of it. What rung warns
# of when the second begins is the first answer: the server's own list of models, its
# metrics and its log say whether the flag is in force.
#
# It takes no GPU: with vLLM's CPU build and a small model,
#
#   rung run --var command='["taskset", "-c", "0", "vllm"]' --var model_path=models/minilm \
#     --var 'options=["--enforce-eager", "--dtype", "float32"]' examples/verify-limits.hcl

experiment "verify-limits" {
  description = "An embedding service around the limit that was configured"
  seed        = 20261130
}

variable "command" {
  default     = ["vllm"]
  description = "The program vllm, and what stands before it"
}

variable "model_path" {
  default = "/models/all-MiniLM-L6-v2"
}

variable "options" {
  type        = list(string)
  default     = []
  description = "Further flags of vllm serve"
}

variable "port" {
  default = 8132
}

variable "max_num_seqs" {
  default     = 8
  description = "The limit that is changed"
}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:${var.port}"
  model = "embed"
}

server {
  command = concat(var.command, [
    "serve", var.model_path, "--served-model-name", "embed", "--runner", "pooling",
    "--host", "127.0.0.1", "--port=${var.port}",
    "--max-model-len", "256",
    "--max-num-seqs=${var.max_num_seqs}",
  ], var.options)
  env = {
    HF_HUB_OFFLINE      = "1"
    VLLM_NO_USAGE_STATS = "1"
    # On a CPU alone; a GPU's build of vLLM does not read them.
    VLLM_CPU_KVCACHE_SPACE    = "1"
    VLLM_CPU_OMP_THREADS_BIND = "nobind"
    OMP_NUM_THREADS           = "1"
  }
  restart = "never"
  ready {
    timeout = "10m"
  }
  stop {
    grace = "20s"
  }
}

metrics {
  interval = "500ms"
}

prompt "passage" {
  tokens    = 64
  text_file = "corpus/harbour.txt"
}

# What the loaded model holds and takes by itself must be the same in both runs: else
# another machine was measured, and no change of a limit.
baseline {
  idle     = "5s"
  requests = 60
}

# Around the limit, in small steps, where it is to show.
ladder "concurrency" {
  rungs    = [1, 4, 8, 12, 16]
  prompt   = prompt.passage
  passes   = 5 # fewer than four are too few to tell two runs apart
  cooldown = "1s"
  requests = 160
}

# The limit that was found once more, for longer.
confirm {
  requests = 200
}

analysis {
  use = "interactive"
}

# What the run after the change is held against.
rollback {
  outcomes      = ["oom", "reset", "refused"]
  p95           = "2s"
  timeout_ratio = 0.01
}
