experiment "e" {}

target {
  api     = "exec"
  model   = "m"
  command = concat(["embed"], ["--token=x"]) # WARNING: Secret recorded in plain
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
