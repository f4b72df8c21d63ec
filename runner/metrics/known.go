package metrics

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"rung/sinks/record"
)

// rule reads series of different names into one.
type rule struct {
	name    string
	sources []string // the first that is there is read; the others keep their own names
	most    bool     // of several the greatest, not the sum
	method  string   // only series with this label; empty: all
}

// rules are the series that are known by more than their names.
//
//nolint:gochecknoglobals // a constant list; Go has no constant slices
var rules = [...]rule{
	{name: "running", sources: []string{"vllm:num_requests_running", "sglang:num_running_reqs", "llamacpp:requests_processing"}},
	{name: "waiting", sources: []string{"vllm:num_requests_waiting", "sglang:num_queue_reqs", "te_queue_size", "llamacpp:requests_deferred"}},
	{name: "kv_usage", most: true, sources: []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage", "llamacpp:kv_cache_usage_ratio"}},
	{name: "preemptions", sources: []string{"vllm:num_preemptions_total", "vllm:num_preemptions"}},
	{name: "cache_queries", sources: []string{"vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries_total"}},
	{name: "cache_hits", sources: []string{"vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits_total", "sglang:cached_tokens_total", "llamacpp:prompt_tokens_cached_total"}},
	{name: "prompt_tokens", sources: []string{"vllm:prompt_tokens_total", "sglang:prompt_tokens_total", "llamacpp:prompt_tokens_total"}},
	{name: "output_tokens", sources: []string{"vllm:generation_tokens_total", "sglang:generation_tokens_total", "llamacpp:tokens_predicted_total"}},
	{name: "requests", sources: []string{"te_request_count"}},
	{name: "requests", sources: []string{"http_requests_total"}, method: "POST"}, // not who reads this page
	{name: "requests_ok", sources: []string{"te_request_success"}},
	{name: "requests_failed", sources: []string{"te_request_failure"}},
	{name: "batches", sources: []string{"te_batch_next_size_count"}},
	{name: "batch_inputs", sources: []string{"te_batch_next_size_sum"}},
	{name: "batch_tokens", sources: []string{"te_batch_next_tokens_sum"}},
	{name: "batch_size_mean", most: true, sources: []string{"llamacpp:n_busy_slots_per_decode"}},
}

// cacheConfig is the series whose labels are vLLM's settings of its memory for tokens.
const cacheConfig = "vllm:cache_config_info"

// Histograms of batches, whose buckets are kept.
const (
	batchSizes  = "te_batch_next_size"
	batchTokens = "te_batch_next_tokens"
)

// page is the series of one reading by their names.
type page struct {
	byName map[string][]Series
	known  []record.ServerSample
	taken  map[string]bool // names that stand in known as they are
}

// canonical gives the known series of a page, and the names of those that need not
// stand beside them once more.
func canonical(series []Series) ([]record.ServerSample, map[string]bool) {
	p := page{byName: map[string][]Series{}, taken: map[string]bool{}}
	for _, s := range series {
		p.byName[s.Name] = append(p.byName[s.Name], s)
	}
	for _, r := range rules {
		p.apply(r)
	}
	p.kvTokens()
	p.meanBatch()
	p.topShare("batch_size_top_share", batchSizes)
	p.topShare("batch_tokens_top_share", batchTokens)
	return p.known, p.taken
}

func (p *page) apply(r rule) {
	for _, source := range r.sources {
		found := slices.Clone(p.byName[source])
		if r.method != "" {
			found = slices.DeleteFunc(found, func(s Series) bool { return s.Labels["method"] != r.method })
		}
		if len(found) == 0 {
			continue
		}
		out := record.ServerSample{Series: r.name, Source: source, Kind: found[0].Kind, Value: fold(found, r.most)}
		if len(p.byName[source]) == 1 {
			out.Labels = found[0].labels()
			p.taken[source] = true
		}
		p.known = append(p.known, out)
		return
	}
}

// fold is the sum of series or the greatest of them; nil where none has a value.
func fold(series []Series, most bool) *float64 {
	var out *float64
	for _, s := range series {
		switch v := finite(s.Value); {
		case v == nil:
		case out == nil:
			out = v
		case most:
			*out = max(*out, *v)
		default:
			*out += *v
		}
	}
	return out
}

// finite is a value, or nil where it is none that can be reckoned with.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// kvTokens is the memory for tokens, over all engines.
func (p *page) kvTokens() {
	total, labels := 0.0, ""
	for _, s := range p.byName[cacheConfig] {
		blocks, err := strconv.ParseFloat(s.Labels["num_gpu_blocks"], 64)
		length, err2 := strconv.ParseFloat(s.Labels["block_size"], 64)
		if err != nil || err2 != nil {
			continue // "None": this model has no such memory
		}
		total += blocks * length
		labels = Series{Labels: map[string]string{"num_gpu_blocks": s.Labels["num_gpu_blocks"], "block_size": s.Labels["block_size"]}}.labels()
	}
	if v := finite(total); v != nil && total > 0 {
		p.known = append(p.known, record.ServerSample{Series: "kv_tokens", Source: cacheConfig, Labels: labels, Kind: record.Gauge, Value: v})
	}
}

func (p *page) meanBatch() {
	sum, n := fold(p.byName[batchSizes+"_sum"], false), fold(p.byName[batchSizes+"_count"], false)
	if sum != nil && n != nil && *n > 0 {
		p.known = append(p.known, record.ServerSample{Series: "batch_size_mean", Source: batchSizes, Kind: record.Gauge, Value: finite(*sum / *n)})
	}
}

// bucket is one of a histogram: what lies at or below its upper end.
type bucket struct{ upTo, below float64 }

// topShare is the share of the batches in the fullest bucket that is not empty: where
// the server makes no larger batches, they are at its cap.
func (p *page) topShare(name, histogram string) {
	var buckets []bucket
	for _, s := range p.byName[histogram+"_bucket"] {
		if upTo, err := strconv.ParseFloat(s.Labels["le"], 64); err == nil && finite(s.Value) != nil {
			buckets = append(buckets, bucket{upTo, s.Value})
		}
	}
	slices.SortFunc(buckets, func(a, b bucket) int { return cmp.Compare(a.upTo, b.upTo) })
	for i := range slices.Backward(buckets) {
		all, under := buckets[len(buckets)-1].below, 0.0
		if i > 0 {
			under = buckets[i-1].below
		}
		if in := buckets[i].below - under; in > 0 && all > 0 {
			p.known = append(p.known, record.ServerSample{Series: name, Source: histogram,
				Labels: "le=" + strconv.FormatFloat(buckets[i].upTo, 'g', -1, 64), Kind: record.Gauge, Value: finite(in / all)})
			return
		}
	}
}

// noise says that a series is left out: it is no measurement, or one bucket of many.
func noise(s Series) bool {
	if s.Kind == record.HistogramPart && strings.HasSuffix(s.Name, "_bucket") {
		return s.Name != batchSizes+"_bucket" && s.Name != batchTokens+"_bucket"
	}
	return s.Kind == record.Gauge && strings.HasSuffix(s.Name, "_created")
}
