experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}

simulator {
  decode_slowdown  = -0.1  # ERROR: Value out of range
  tokens_per_chunk = 0     # ERROR: Value out of range
  answer_tokens    = 0     # ERROR: Value out of range
  early_stop       = 1.5   # ERROR: Value out of range
  compile          = "-1s" # ERROR: Value out of range
  count_offset     = -1    # ERROR: Value out of range
  tokenise_factor  = 0     # ERROR: Value out of range
  prefix_cache     = true
  cache_block      = 0 # ERROR: Value out of range
}
