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
  max_queue    = 8
  queue_status = 500 # ERROR: Unknown value
  oom_status   = 503 # ERROR: Unknown value
}
