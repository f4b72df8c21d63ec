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
  fragment_stpe    = 1 # ERROR: Unknown attribute
  oom_tokesn       = 1 # ERROR: Unknown attribute
  oom_statsu       = 1 # ERROR: Unknown attribute
  oom_kilsl        = 1 # ERROR: Unknown attribute
  throttle_ta      = 1 # ERROR: Unknown attribute
  throttle_fro     = 1 # ERROR: Unknown attribute
  throttle_shaer   = 1 # ERROR: Unknown attribute
  idle_clock_aftre = 1 # ERROR: Unknown attribute
  idle_clock_delya = 1 # ERROR: Unknown attribute
  boudn            = 1 # ERROR: Unknown attribute
  compiel          = 1 # ERROR: Unknown attribute
  count_offste     = 1 # ERROR: Unknown attribute
  tokenise_factro  = 1 # ERROR: Unknown attribute
}
