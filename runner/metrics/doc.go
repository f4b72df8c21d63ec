// Package metrics reads what a server tells of itself on a page in Prometheus's text
// form. It alone knows that form's library, and hands on none of its types.
//
// Every server has names of its own. Those that mean the same are read into one
// series with a canonical name, and the server's own name stands beside it:
//
//	running          requests that the server works on now
//	waiting          requests in its queue
//	kv_usage         share of the memory for tokens that is in use, 0 to 1
//	kv_tokens        tokens that this memory holds; its blocks and their length are the labels
//	preemptions      requests that lost their place and are computed anew, since the server began
//	cache_queries    prompt tokens looked up in the prefix cache, since the server began
//	cache_hits       of which were found
//	prompt_tokens    read, since the server began
//	output_tokens    generated, since the server began
//	requests         taken, since the server began; requests_ok and requests_failed likewise
//	batches          that the server made, since it began
//	batch_inputs     in all of them
//	batch_tokens     in all of them
//	batch_size_mean  inputs in a batch, the mean since the server began
//	batch_size_top_share    share of the batches in the fullest bucket of sizes that is not
//	                        empty, whose upper end is the label le; since the server began
//	batch_tokens_top_share  the same of the batches' tokens
//	dropped_series   series of the page that were left out because there were too many
//
// Where a server has several engines, or counts by kinds, the canonical series is their
// sum (of kv_usage the greatest) without labels, and each of them follows under the
// server's own name. All other series are kept under the server's own names, but for
// the points in time at which counters were made (…_created) and the buckets of
// histograms that are not those of batches.
package metrics
