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
  compile          = "5" # ERROR: Not a time
  throttle_at      = "5" # ERROR: Not a time
  throttle_for     = "5" # ERROR: Not a time
  idle_clock_after = "5" # ERROR: Not a time
  idle_clock_delay = "5" # ERROR: Not a time
  throttle_share   = 0.2
}
