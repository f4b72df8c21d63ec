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
    kind      = 1   # ERROR: Wrong type
    share     = "8" # ERROR: Wrong type
    from      = "8" # ERROR: Wrong type
    times     = "8" # ERROR: Wrong type
    at_inputs = "8" # ERROR: Wrong type
    at_tokens = "8" # ERROR: Wrong type
  }

  fault {
    kind  = "reset"
    every = "2" # ERROR: Wrong type
  }

  fault {
    kind   = "status"
    status = "500" # ERROR: Wrong type
    body   = 1     # ERROR: Wrong type
  }

  fault {
    kind  = "slow_first"
    after = 1 # ERROR: Wrong type
  }

  fault {
    kind   = "interference"
    at     = 1   # ERROR: Wrong type
    for    = 1   # ERROR: Wrong type
    factor = "2" # ERROR: Wrong type
    memory = 1   # ERROR: Wrong type
  }
}
