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
    kind      = "reset"
    share     = 0 # ERROR: Value out of range
    from      = 0 # ERROR: Value out of range
    times     = 0 # ERROR: Value out of range
    at_inputs = 0 # ERROR: Value out of range
    at_tokens = 0 # ERROR: Value out of range
  }

  fault {
    kind  = "reset"
    every = 0 # ERROR: Value out of range
  }

  fault {
    kind   = "status"
    status = 99 # ERROR: Value out of range
  }

  fault {
    kind  = "slow_first"
    after = "0s" # ERROR: Value out of range
  }

  fault {
    kind   = "interference"
    at     = "-1s" # ERROR: Value out of range
    for    = "25h" # ERROR: Value out of range
    factor = 0.5   # ERROR: Value out of range
  }
}
