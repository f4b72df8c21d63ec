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

gpu {
  url     = "http://h" # ERROR: Out of place
  path    = "gpu.parquet" # ERROR: Out of place
  command = ["ssh", "h", "nvidia-smi"] # ERROR: Out of place
}
