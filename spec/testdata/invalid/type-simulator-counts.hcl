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
  decode_slowdown  = "8" # ERROR: Wrong type
  tokens_per_chunk = "8" # ERROR: Wrong type
  answer_tokens    = "8" # ERROR: Wrong type
  early_stop       = "8" # ERROR: Wrong type
  count_offset     = "8" # ERROR: Wrong type
  tokenise_factor  = "8" # ERROR: Wrong type
  max_queue        = "8" # ERROR: Wrong type
  queue_status     = "8" # ERROR: Wrong type
  max_client_batch = "8" # ERROR: Wrong type
  preallocate      = "8" # ERROR: Wrong type
  fragment_after   = "8" # ERROR: Wrong type
  fragment_step    = "1MiB"
  fragment_tokens  = "8" # ERROR: Wrong type
  oom_tokens       = "8" # ERROR: Wrong type
  oom_status       = "8" # ERROR: Wrong type
  throttle_share   = "8" # ERROR: Wrong type
}
