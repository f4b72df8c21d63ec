package sim

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// counts are what the server tells of itself.
type counts struct {
	running, waiting            int
	preemptions                 int
	cacheQueries, cacheHits     int // tokens
	promptTokens, outputTokens  int
	stops, lengths, aborts, bad int // requests, by why they ended
}

// counters are counts that several change at once.
type counters struct {
	mu sync.Mutex
	c  counts
}

func (c *counters) add(change func(*counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.c)
}

func (c *counters) now() counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.c
}

// metrics is a page in Prometheus's form, with vLLM's names.
func (s *Server) metrics(e *engine, w http.ResponseWriter) {
	c := e.counts.now()
	var b strings.Builder
	labels := fmt.Sprintf("engine=\"0\",model_name=%q", s.cfg.Model)
	put := func(kind, name, more string, v any) {
		if !strings.Contains(b.String(), "# TYPE vllm:"+name+" ") {
			fmt.Fprintf(&b, "# HELP vllm:%s of the simulated server\n# TYPE vllm:%s %s\n", name, name, kind)
		}
		fmt.Fprintf(&b, "vllm:%s{%s%s} %v\n", name, labels, more, v)
	}
	put("gauge", "num_requests_running", "", c.running)
	put("gauge", "num_requests_waiting", "", c.waiting)
	put("gauge", "kv_cache_usage_perc", "", min(1, e.card.usage()+e.pool.share()))
	put("counter", "num_preemptions_total", "", c.preemptions)
	put("counter", "prefix_cache_queries_total", "", c.cacheQueries)
	put("counter", "prefix_cache_hits_total", "", c.cacheHits)
	put("counter", "prompt_tokens_total", "", c.promptTokens)
	put("counter", "generation_tokens_total", "", c.outputTokens)
	for _, end := range []struct {
		reason string
		n      int
	}{{"stop", c.stops}, {"length", c.lengths}, {"abort", c.aborts}, {"error", c.bad}} {
		put("counter", "request_success_total", fmt.Sprintf(",finished_reason=%q", end.reason), end.n)
	}
	put("gauge", "cache_config_info", fmt.Sprintf(",block_size=\"%d\",cache_dtype=\"auto\",enable_prefix_caching=%q,gpu_memory_utilization=\"%g\",num_gpu_blocks=%q",
		blockOf(e.p), title(e.p.PrefixCache), e.p.Preallocate, e.blocks()), 1)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(b.String())) // a reader that went away is its own affair
}

// title is a truth as Python prints it.
func title(v bool) string {
	if v {
		return "True"
	}
	return "False"
}

// blocks are those of the pool for tokens, as vLLM says it of a model without one too.
func (e *engine) blocks() string {
	if room := poolTokens(e.p); room > 0 {
		return strconv.Itoa(room / blockOf(e.p))
	}
	return "None"
}
