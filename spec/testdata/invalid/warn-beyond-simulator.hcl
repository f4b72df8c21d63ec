experiment "e" {}

target {
  api   = "openai-chat"
  model = "m"
}

simulator {
  max_input_tokens = 700
}

prompt "p" {
  tokens        = 512
  output_tokens = 128
}

prompt "q" {
  tokens        = 512
  output_tokens = 256
}

ladder "concurrency" {
  rungs  = [1, 2, 4]
  prompt = prompt.p
  passes = 3
}

ladder "long" {
  axis   = "concurrency"
  rungs  = [1, 2, 4] # WARNING: Length beyond the simulator's
  prompt = prompt.q
  passes = 3
}
