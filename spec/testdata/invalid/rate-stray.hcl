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
  arrivals      = "constant" # ERROR: Does not fit the axis
  max_in_flight = 9 # ERROR: Does not fit the axis
}
