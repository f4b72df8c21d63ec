package metrics

import (
	"context"

	"rung/sinks/record"
)

// cacheSettings are the labels of vLLM's cache_config_info that are settings, by the
// names of the flags that set them.
//
//nolint:gochecknoglobals // a constant list; Go has no constant slices
var cacheSettings = [...]string{"block_size", "enable_prefix_caching", "gpu_memory_utilization", "kv_cache_memory_bytes", "num_gpu_blocks"}

// Settings are those in force that the page tells, of its first engine. A page that
// can't be read, or is another server's, tells nothing.
func (r *Reader) Settings(ctx context.Context) (out []record.Setting) {
	series, err := r.page.Series(ctx)
	if err != nil {
		return nil
	}
	for _, s := range series {
		if s.Name != cacheConfig {
			continue
		}
		for _, name := range cacheSettings {
			if v := s.Labels[name]; v != "" {
				out = append(out, record.Setting{Name: name, InForce: v, Source: cacheConfig})
			}
		}
		return out
	}
	return nil
}
