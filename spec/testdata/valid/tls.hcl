experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "https://h:8443"
  model = "m"
  tls {
    ca          = "ca.pem"
    certificate = "c.pem"
    key         = "k.pem"
  }
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
