# Where does an embedding service run out of memory, and is it the batch or the length?
#
#   rung run --simulate examples/embedding-oom.hcl    (tried, on the modelled card)
#   rung run examples/embedding-oom.hcl               (on a card: it starts the server)
#
# Two ladders reach the same number of tokens in a request by two ways: 64 inputs of
# 512 tokens, and 8 inputs of 4,096. Where both fail at the same product it is the
# tokens of a forward that fill the card; where one fails before, it is not.

experiment "embedding-oom" {
  description = "The edge of an embedding service in Chinese text, by batch and by length"
  seed        = 11
}

variable "url" {
  default = "http://127.0.0.1:8000"
}

target {
  api   = "openai-embeddings"
  url   = var.url
  model = "bge-m3"
}

# The server under test, started by rung. It is started again before each ladder: an
# allocator that grew in the first gives nothing back, and the second would begin on
# what the first left. The limits are in the command, so that a rung above one of
# them would be warned of; both ladders stay within. With --simulate it is not started.
server {
  command = [
    "vllm", "serve", "/models/bge-m3",
    "--served-model-name", "bge-m3",
    "--max-model-len", "8192",
    "--max-num-seqs", "64",
    "--port", "8000",
  ]
  restart = "ladder"
  ready {
    path    = "/health"
    timeout = "10m"
  }
}

# Used with --simulate alone. 4 GiB for the model and 256 KiB a token: 16,384 tokens in
# a forward take 8 GiB, and twice as many would take 12 GiB, which the card has not.
simulator {
  memory_total     = "10GiB"
  memory_idle      = "4GiB"
  memory_per_token = "256KiB"
}

# The text matters: Chinese has more tokens in a character than English in a word.
prompt "fixed" {
  tokens    = 512
  text_file = "corpus/zh.txt"
  kind      = "Chinese prose"
}

# A ladder of lengths sets the length itself, so this prompt has none.
prompt "growing" {
  text_file = "corpus/zh.txt"
  kind      = "Chinese prose"
}

# More and more inputs in a request, each of 512 tokens.
ladder "batch" {
  rungs    = doubling(1, 64)
  prompt   = prompt.fixed
  passes   = 3
  cooldown = "3s"
  stop {
    outcomes = ["oom", "cuda_error", "reset", "refused"] # one is enough, at once
  }
}

# Longer and longer inputs, eight in a request. There is no knee along lengths, for each
# rung is different work; there is an edge.
ladder "length" {
  axis     = "input_tokens"
  rungs    = doubling(128, 4096)
  batch    = 8
  prompt   = prompt.growing
  passes   = 3
  cooldown = "3s"
  stop {
    outcomes = ["oom", "cuda_error", "reset", "refused"]
  }
}

# What is configured stays a rung below the edge, with 8 % of the card free.
analysis {
  headroom {
    reserve_rungs = 1
    safety        = 0.08
  }
}
