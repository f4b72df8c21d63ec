// Package prompt makes inputs of exactly so many tokens, as the server counts
// them, each from a seed of its own.
//
// Two forms. Token ids (IDs), where the API takes them: the length is exact by
// construction, and what is sent is real text that the server tokenised, or seeded
// ids. Text (Texts), aligned until the server's own count says the length.
//
// In both the first tokens are drawn from the input's seed, so that no two
// requests share a first block and no prefix cache can answer.
package prompt
