# A real embedding server: how many requests at once still pay?
#
# Written for all-MiniLM-L6-v2, which runs on two CPU cores. Any server of the OpenAI
# embeddings API will do; these three are what the scripts in runner/testdata/servers
# start, llama.cpp's, vLLM and Infinity:
#
#   rung run examples/real-embeddings.hcl
#   rung run --var url=http://127.0.0.1:8112 examples/real-embeddings.hcl
#   rung run --var url=http://127.0.0.1:8121 examples/real-embeddings.hcl
#
# The three runs have one workload hash: they were asked for the same work, and
# `rung compare` may lay one beside the other. How each counts tokens is another
# matter: Infinity leaves out the two that the model puts around a text.

experiment "real-embeddings" {
  description = "Batch and concurrency on a CPU embedding server, over English prose"
  seed        = 20261130
}

variable "url" {
  default = "http://127.0.0.1:8102"
}

variable "model" {
  default = "minilm"
}

target {
  api   = "openai-embeddings"
  url   = var.url
  model = var.model
}

# No card, no memory figures. The report says so rather than guess.
gpu {
  source = "none"
}

# The text is tokenised by the server itself and cut to exactly 64 tokens, each
# request at another place, behind a few tokens of its own: no cache can answer.
prompt "prose" {
  tokens    = 64
  text_file = "corpus/harbour.txt"
}

baseline {
  idle     = "1s"
  requests = 30
}

# How many texts in one request?
ladder "batch" {
  rungs    = doubling(1, 8)
  passes   = 3 # up, down, up, so that a drift of the machine shows
  rounds   = 2
  requests = 10
  cooldown = "500ms"
}

# How many requests at once, each with one text? On a CPU a second one may gain
# little: the report shows what it was.
ladder "concurrency" {
  rungs    = [1, 2, 4]
  passes   = 3
  cooldown = "500ms"
}

analysis {
  knee {
    rule = "power"
  }
}
