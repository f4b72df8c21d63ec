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
  cache_block      = 32     # ERROR: Out of place
  queue_status     = 503    # ERROR: Out of place
  fragment_tokens  = 100    # ERROR: Out of place
  fragment_step    = "1MiB" # ERROR: Out of place
  throttle_at      = "1s"   # ERROR: Out of place
  throttle_for     = "1s"   # ERROR: Out of place
  idle_clock_delay = "1ms"  # ERROR: Out of place
}
