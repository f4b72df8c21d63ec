# A program in place of a server, and GPU samples that were recorded elsewhere.
experiment "program" {}

target {
  api     = "exec"
  command = ["python3", "embed.py", "--device", "cuda:0"]
  model   = "m"
  body    = { normalize = true }
}

gpu {
  source = "file"
  path   = "samples/gpu.parquet"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs    = [1, 2, 4]
  passes   = 3
  duration = "10s"
}

ladder "concurrency" {
  rungs  = [1, 2]
  batch  = 8
  passes = 3
}

confirm {}
