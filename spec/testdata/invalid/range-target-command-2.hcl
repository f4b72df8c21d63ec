experiment "e" {}

target {
  api   = "exec"
  model = "m"
  command = [" "] # ERROR: Value out of range
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
