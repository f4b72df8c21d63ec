experiment "e" {}

target {
  api     = "exec"
  command = ["embed"]
  model   = "m"
  url     = "http://h" # ERROR: Nothing here that this belongs to
  headers = { A = "b" } # ERROR: Nothing here that this belongs to
  proxy   = "http://h" # ERROR: Nothing here that this belongs to
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
