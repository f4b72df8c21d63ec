experiment "e" {}

target {
  api     = "exec"
  command = ["embed"]
  model   = "m"
  url     = "http://h" # ERROR: Out of place
  headers = { A = "b" } # ERROR: Out of place
  proxy   = "http://h" # ERROR: Out of place
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
