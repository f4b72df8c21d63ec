experiment "e" {}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}

# ERROR (no line): Missing block
