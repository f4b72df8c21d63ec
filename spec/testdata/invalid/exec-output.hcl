experiment "e" {}

target {
  api     = "exec"
  command = ["embed"]
  model   = "m"
}

prompt "p" {
  tokens        = 128
  output_tokens = 8 # ERROR: Output tokens do not fit the api
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
