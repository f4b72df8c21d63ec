token = hunter2
