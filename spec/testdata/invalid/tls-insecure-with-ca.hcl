experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "https://h:8443"
  model = "m"
  tls {
    ca       = "ca.pem"
    insecure = true # ERROR: Two that exclude each other
  }
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
