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
  compile          = 5 # ERROR: Wrong type
  throttle_at      = 5 # ERROR: Wrong type
  throttle_for     = 5 # ERROR: Wrong type
  idle_clock_after = 5 # ERROR: Wrong type
  idle_clock_delay = 5 # ERROR: Wrong type
  fragment_after   = 8
  fragment_step    = 64 # ERROR: Wrong type
  throttle_share   = 0.2
  bound            = 1 # ERROR: Wrong type
}
