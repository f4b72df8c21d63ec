// Package dcgm samples the accelerator by the page of a DCGM exporter, for a card that
// is in another machine or container than rung.
//
// The exporter reads its cards on a schedule of its own, 30 s apart where nothing else
// is said (its option -c, in milliseconds), and answers with the last values between
// two of them: a sample here is no fresher than that.
//
// A column has three states: a value; absent (nil), where the exporter has the series
// and no value in it; and unsupported (nil always, and named in
// record.Device.Unsupported), where the page that was first read had no such series.
package dcgm

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"rung/runner/metrics"
	"rung/sinks/record"
	"rung/spec/plan"
)

// A reading that fails is made once more, each within patience: a page that is busy
// for a moment need not end the samples of a run of hours.
const (
	tries    = 2
	patience = 2500 * time.Millisecond
)

// Options say what to sample.
type Options struct {
	URL     string   // the exporter's page
	Devices []string // UUID, index or UUID/instance; empty: all
}

// Exporter is the page of a DCGM exporter. It implements rung/runner.Sampler.
type Exporter struct {
	page    *metrics.Page
	devices []record.Device
	keys    []string // of the devices, in their order
	wait    time.Duration
}

// Open reads the page once and finds the devices on it. It fails where there are none,
// or one that is asked for is not there.
func Open(o Options) (*Exporter, error) {
	e := &Exporter{page: metrics.NewPage(o.URL, http.Header{}, "", nil, plan.Scrubber{}), wait: patience}
	if err := e.find(o.Devices); err != nil {
		e.page.Close()
		return nil, fmt.Errorf("the DCGM exporter: %w", err)
	}
	return e, nil
}

func (e *Exporter) find(wanted []string) error {
	found, err := e.read()
	if err != nil {
		return err
	}
	for _, d := range found {
		if len(wanted) == 0 || slices.ContainsFunc(wanted, d.named) {
			e.devices = append(e.devices, d.describe())
			e.keys = append(e.keys, d.key())
		}
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(found, func(d *device) bool { return d.named(w) }) {
			return fmt.Errorf("there is no device %s on its page; there are %s", w, names(found))
		}
	}
	if len(e.devices) == 0 {
		return fmt.Errorf("its page has no series DCGM_FI_… of any device")
	}
	return nil
}

func names(found []*device) string {
	var out []string
	for _, d := range found {
		out = append(out, fmt.Sprintf("%d (%s)", d.index, d.key()))
	}
	return strings.Join(out, ", ")
}

// read reads the page, and once more where it fails.
func (e *Exporter) read() (found []*device, err error) {
	for range tries {
		var series []metrics.Series
		if series, err = e.once(); err == nil {
			return group(series), nil
		}
	}
	return nil, err
}

func (e *Exporter) once() ([]metrics.Series, error) {
	ctx, cancel := context.WithTimeout(context.Background(), e.wait)
	defer cancel()
	return e.page.Series(ctx)
}

// Source names where the samples come from.
func (e *Exporter) Source() string { return "dcgm" }

// Devices lists the cards and instances that are sampled.
func (e *Exporter) Devices() []record.Device { return e.devices }

// Close drops the connection.
func (e *Exporter) Close() error {
	e.page.Close()
	return nil
}

// Sample reads every device. An error means that there will be no more samples: the
// page is gone, or a device from it.
func (e *Exporter) Sample() ([]record.Sample, error) {
	found, err := e.read()
	if err != nil {
		return nil, fmt.Errorf("the DCGM exporter: %w", err)
	}
	var out []record.Sample
	for _, key := range e.keys {
		i := slices.IndexFunc(found, func(d *device) bool { return d.key() == key })
		if i < 0 {
			return nil, fmt.Errorf("the DCGM exporter: device %s is no longer on its page", key)
		}
		out = append(out, found[i].sample())
	}
	return out, nil
}

// device is a card, or an instance of one, as it is on a page.
type device struct {
	index    int
	uuid     string
	instance string // of MIG; empty: the whole card
	name     string
	driver   string
	values   map[string]*float64 // by the series' name; nil: the exporter has none
}

// key is the UUID, and for an instance its number behind it.
func (d *device) key() string {
	if d.instance == "" {
		return d.uuid
	}
	return d.uuid + "/" + d.instance
}

// named says whether a word of the spec's list means the device: a card's UUID and its
// index mean its instances too.
func (d *device) named(word string) bool {
	return word == d.key() || word == d.uuid || word == strconv.Itoa(d.index)
}

// group gathers the series of each device, in the order of index and instance.
func group(series []metrics.Series) []*device {
	byKey := map[string]*device{}
	var out []*device
	for _, s := range series {
		if !strings.HasPrefix(s.Name, "DCGM_FI_") {
			continue
		}
		d := of(s)
		if known := byKey[d.key()]; known != nil {
			d = known
		} else {
			byKey[d.key()] = d
			out = append(out, d)
		}
		d.take(s)
	}
	slices.SortFunc(out, func(a, b *device) int {
		if a.index != b.index {
			return a.index - b.index
		}
		return strings.Compare(a.key(), b.key())
	})
	return out
}

// of is the device that a series is of.
func of(s metrics.Series) *device {
	d := &device{uuid: label(s, "UUID"), instance: label(s, "GPU_I_ID"), values: map[string]*float64{}}
	d.index, _ = strconv.Atoi(label(s, "gpu")) // without the label it is the only one
	if d.uuid == "" {
		d.uuid = "gpu " + strconv.Itoa(d.index) // an exporter that does not tell has no better name
	}
	return d
}

// label is a label's value; exporters write one that they do not know as <<<NULL>>>.
func label(s metrics.Series, name string) string {
	if v := s.Labels[name]; v != "<<<NULL>>>" {
		return v
	}
	return ""
}

// take keeps the value of a series, and what its labels say of the device. Of one that
// is there for several containers, which share the card, the first is as good as any.
func (d *device) take(s metrics.Series) {
	if d.name == "" {
		d.name = label(s, "modelName")
	}
	if d.driver == "" {
		d.driver = label(s, "DCGM_FI_DRIVER_VERSION")
	}
	if d.values[s.Name] == nil {
		d.values[s.Name] = known(s.Value)
	}
}
