experiment "e" {}

target {
  api     = "exec"
  command = ["embed"]
  model   = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}

metrics {} # ERROR: Missing attribute
