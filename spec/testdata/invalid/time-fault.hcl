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
  fault {
    kind  = "slow_first"
    after = "1" # ERROR: Not a time
  }

  fault {
    kind   = "interference"
    at     = "1" # ERROR: Not a time
    for    = "1" # ERROR: Not a time
    memory = "1" # ERROR: Not a size
  }
}
