x = 5 5
token = "hunter2
