// Package sim is the simulated server: real HTTP on loopback in front of a
// modelled GPU, so that any spec can be tried, and every analysis be held
// against a truth known by construction, before a card is booked. On a listener in
// memory it runs in virtual time as it is: it waits by timers and channels alone.
//
// The model is plan.Simulator's: a roofline for embeddings (engine.go), slots that
// decode token by token (decode.go), memory that grows and is not given back, that
// fragments, or that is a pool whose sequences push each other out (card.go, pool.go),
// a cache of beginnings (cache.go), a queue with a limit, clocks that fall
// (conditions.go) and faults on demand (faults.go). It says "simulated" wherever it
// shows: in its model list, its Server header, its log and the name of its GPU.
//
// It answers POST /v1/embeddings, /v1/chat/completions, /v1/completions (both streamed
// or whole), TEI's /embed, and /tokenize in the forms of vLLM and TEI; GET /v1/models,
// /info, /version, /health and, with vLLM's names, /metrics. A word is a token; what the
// tokeniser adds to each text is plan.Simulator.SpecialTokens.
//
// What a request meets depends on the seed, its bytes and its number, and on nothing
// else but what runs beside it. Of things that happen at the very same moment the order
// is open; noise keeps moments apart.
//
// A Server outlives its process: a fault or a lack of memory may end that, and Restart
// begins another with fresh memory at the same address. Its log (Entry) goes on, and
// has when each request came, when its first token and its last byte went out: what a
// client measures can be held against it.
package sim
