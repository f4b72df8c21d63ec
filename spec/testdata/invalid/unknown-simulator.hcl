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
  decode_slowdonw  = 1 # ERROR: Unknown attribute
  tokens_per_chukn = 1 # ERROR: Unknown attribute
  answer_tokesn    = 1 # ERROR: Unknown attribute
  early_stpo       = 1 # ERROR: Unknown attribute
  log_chunsk       = 1 # ERROR: Unknown attribute
  prefix_caceh     = 1 # ERROR: Unknown attribute
  cache_blokc      = 1 # ERROR: Unknown attribute
  max_queeu        = 1 # ERROR: Unknown attribute
  queue_statsu     = 1 # ERROR: Unknown attribute
  max_client_bathc = 1 # ERROR: Unknown attribute
  preallocaet      = 1 # ERROR: Unknown attribute
  fragment_aftre   = 1 # ERROR: Unknown attribute
  fragment_tokesn  = 1 # ERROR: Unknown attribute
}
