experiment "e" {}

target {
  api     = "exec"
  command = ["embed", env("TOKEN", "")] # ERROR: Sensitive value where none may be
  model   = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
