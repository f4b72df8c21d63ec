# A first ladder over lengths: the baseline has its first rung's length and its batch.
experiment "lengths" {}

target {
  api   = "openai-embeddings"
  model = "m"
}

simulator {}

prompt "p" {}

ladder "input_tokens" {
  rungs = [128, 512, 2048]
  batch = 8
}
