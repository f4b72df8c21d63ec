# A simulated server with all that it can have. What is written out as the default
# is not in the plan.
experiment "simulator" {}

target {
  api   = "openai-completions"
  model = "m"
}

simulator {
  decode_slowdown  = 0.05
  tokens_per_chunk = 1
  answer_tokens    = 200
  early_stop       = 0.1
  log_chunks       = true
  compile          = "3s"
  prefix_cache     = true
  cache_block      = 16
  max_queue        = 64
  queue_status     = 429
  max_client_batch = 32
  preallocate      = 0.9
  fragment_after   = 100
  fragment_step    = "64MiB"
  fragment_tokens  = 4096
  oom_tokens       = 16384
  oom_status       = 500
  throttle_share   = 0.2
  throttle_at      = "30s"
  throttle_for     = "20s"
  idle_clock_after = "5s"
  idle_clock_delay = "20ms"
  bound            = "compute"
  count_offset     = 1
  tokenise_factor  = 1

  fault {
    kind  = "status"
    share = 1
  }

  fault {
    kind   = "status"
    share  = 0.1
    from   = 100
    times  = 5
    status = 503
    body   = "busy"
  }

  fault {
    kind   = "interference"
    at     = "30s"
    for    = "20s"
    factor = 1.5
    memory = "2GiB"
  }
}

prompt "p" {
  tokens        = 128
  output_tokens = 16
  stream        = true
}

ladder "concurrency" {
  rungs  = [1, 2, 4]
  passes = 3
}
