experiment "e" {}

target {
  api   = "exec"
  model = "m"
  command = "embed --all" # ERROR: Wrong type
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
