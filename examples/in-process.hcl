# A model that is called in a process, without a server: how many texts in one call?
#
#   rung run examples/in-process.hcl
#
# rung starts the program, writes a line of JSON for each batch and reads one back:
# see embed_program.py beside this file, which is a template for your own.
# One call is made at a time, so that there is no ladder of concurrency here.

experiment "in-process" {
  description = "Where batch stops paying for sentence-transformers in one process"
}

variable "python" {
  default = "python3"
}

variable "model" {
  default = "all-MiniLM-L6-v2"
}

target {
  api     = "exec"
  command = [var.python, "examples/embed_program.py", var.model]
  model   = var.model
}

prompt "short" {
  tokens = 32
}

baseline {
  idle     = "5s"
  requests = 60
}

ladder "batch" {
  rungs    = doubling(1, 64)
  passes   = 3
  rounds   = 5
  requests = 4
}
