token = "hunter2"
x "y" {}
