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

server {
  log     = "server.log"
  env     = {} # ERROR: Out of place
  dir     = "d" # ERROR: Out of place
  restart = "never" # ERROR: Out of place
  ready { # ERROR: Out of place
  }
  stop { # ERROR: Out of place
  }
}
