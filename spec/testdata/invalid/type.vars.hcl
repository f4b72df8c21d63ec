x     = "5"
token = ["hunter2"]
