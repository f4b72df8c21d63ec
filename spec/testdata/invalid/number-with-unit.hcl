experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" { tokens = 4k } # ERROR: Number with letters behind it

ladder "batch" {
  rungs    = [1, 2, 4]
  passes   = 3
  cooldown = 3s # ERROR: Number with letters behind it
  rounds   = "x" # ERROR: Wrong type
}
