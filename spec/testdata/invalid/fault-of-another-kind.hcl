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
    kind   = "reset"
    status = 500    # ERROR: Out of place
    body   = "x"    # ERROR: Out of place
    after  = "1s"   # ERROR: Out of place
    at     = "1s"   # ERROR: Out of place
    for    = "1s"   # ERROR: Out of place
    factor = 2      # ERROR: Out of place
    memory = "1GiB" # ERROR: Out of place
  }

  fault {
    kind      = "interference"
    share     = 0.1 # ERROR: Out of place
    from      = 2   # ERROR: Out of place
    times     = 2   # ERROR: Out of place
    at_inputs = 2   # ERROR: Out of place
    at_tokens = 2   # ERROR: Out of place
  }

  fault {
    kind  = "client_close_idle"
    every = 2 # ERROR: Out of place
  }
}
