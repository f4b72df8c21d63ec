n     = 3
n     = 4
token = "a"
token = "hunter2"
