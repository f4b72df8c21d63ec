# Variables of every type, from a default, the environment and a flag.
# WITH: var sizes=[1, 2.0, "4"]
# WITH: var tags={ a = 1 }
# WITH: env RUNG_VAR_passes=3
experiment "variables" {}

variable "sizes" {
  type = list(number)
}

variable "passes" {
  type    = number
  default = 1
  validation {
    condition     = var.passes >= 1 && var.passes <= 9
    error_message = "Between one and nine."
  }
}

variable "tags" {
  type    = map(string)
  default = {}
}

variable "pair" {
  type    = tuple([string, number])
  default = ["seven", 7]
}

variable "point" {
  type    = object({ x = number, on = bool })
  default = { x = 1, on = true }
  validation {
    condition     = var.point.on
    error_message = "It must be on."
  }
}

variable "names" {
  type    = set(string)
  default = ["b", "a", "b"]
}

variable "key" {
  type      = string
  default   = env("KEY", "")
  sensitive = true
  validation {
    condition     = length(var.key) < 100
    error_message = "It is too long for a key."
  }
}

target {
  api     = "openai-embeddings"
  url     = "http://127.0.0.1:8000"
  model   = var.pair[0]
  headers = { X-Key = var.key }
  body    = { tags = var.tags, names = var.names, on = var.point.on }
}

prompt "p" {
  tokens = var.pair[1]
}

ladder "batch" {
  rungs  = var.sizes
  passes = var.passes
}
