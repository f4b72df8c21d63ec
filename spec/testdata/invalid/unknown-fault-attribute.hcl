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
    kind = "reset"

    shaer     = 1 # ERROR: Unknown attribute
    eveyr     = 1 # ERROR: Unknown attribute
    frmo      = 1 # ERROR: Unknown attribute
    timse     = 1 # ERROR: Unknown attribute
    at_inpust = 1 # ERROR: Unknown attribute
    at_tokesn = 1 # ERROR: Unknown attribute
    statsu    = 1 # ERROR: Unknown attribute
    boyd      = 1 # ERROR: Unknown attribute
    aftre     = 1 # ERROR: Unknown attribute
    ta        = 1 # ERROR: Unknown attribute
    fro       = 1 # ERROR: Unknown attribute
    factro    = 1 # ERROR: Unknown attribute
    memoyr    = 1 # ERROR: Unknown attribute
  }

  fault { # ERROR: Missing attribute
    kinds_of = 1 # ERROR: Unknown attribute
  }

  faults { # ERROR: Unknown block
  }
}
