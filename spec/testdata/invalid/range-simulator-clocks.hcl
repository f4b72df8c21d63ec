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
  throttle_at      = "-1s" # ERROR: Value out of range
  throttle_for     = "25h" # ERROR: Value out of range
  throttle_share   = 1     # ERROR: Value out of range
  idle_clock_after = "0s"  # ERROR: Value out of range
  idle_clock_delay = "0s"  # ERROR: Value out of range
}
