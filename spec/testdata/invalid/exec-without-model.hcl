experiment "e" {}

target { # ERROR: Missing attribute
  api     = "exec"
  command = ["embed"]
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
