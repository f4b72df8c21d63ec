tokn = "hunter2"
x    = 5
