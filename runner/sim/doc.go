// Package sim is the simulated server: real HTTP on loopback in front of a
// modelled GPU, so that any spec can be tried, and every analysis be held
// against a truth known by construction, before a card is booked.
//
// The model is plan.Simulator's: a roofline for embeddings, slots for chats, an
// allocator that grows and gives nothing back, out of memory at a size. It says
// "simulated" wherever it shows: in its model list, its Server header, its log
// and the name of its GPU.
//
// It answers POST /v1/embeddings (text or token ids), /v1/chat/completions
// (not streamed) and /tokenize (vLLM's form), GET /v1/models and /health. A word
// is a token; what the tokeniser adds to each text is plan.Simulator.SpecialTokens.
package sim
