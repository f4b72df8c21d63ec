experiment "e" {}

target {
  api   = "openai-embeddings"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}

simulator {}

server { # ERROR: Missing url
  command = ["serve"]
}
