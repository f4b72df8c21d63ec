package gpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"rung/sinks/record"
)

// What the process that reads NVML says comes in frames: a kind, the length of what
// follows as four bytes, and that. Readings are no JSON, as a dozen columns of eight cards
// a hundred times a second are much text to write and to read.
type kind byte

const (
	hello   kind = iota + 1 // JSON: the devices, or why there are none
	pending                 // readings of the schedule
	answer                  // the same, and what was asked for is done
	failed                  // text: why there will be no more
)

const (
	frameHead = 5
	maxFrame  = 4 << 20 // bytes that may follow
)

// appendFrame appends a whole frame.
func appendFrame(b []byte, k kind, body []byte) []byte {
	b = append(b, byte(k))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body))) //nolint:gosec // what is too long the other side refuses
	return append(b, body...)
}

// readFrame reads the next frame. Its error is io.EOF where there is none.
func readFrame(in io.Reader) (kind, []byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	k, n := kind(head[0]), binary.LittleEndian.Uint32(head[1:])
	if k < hello || k > failed || n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of kind %d with %d bytes is none of rung's", k, n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		return 0, nil, fmt.Errorf("a frame was cut: %w", io.ErrUnexpectedEOF)
	}
	return k, body, nil
}

// taken is one reading of all devices.
type taken struct {
	at      int64  // nanoseconds on the clock that both processes have, monotonic's
	late    int64  // nanoseconds behind the schedule
	missed  uint32 // times of the schedule that were left out before it
	forced  bool   // asked for, beside the schedule
	samples []record.Sample
}

// counts and levels are where a sample has its columns, in the order in which they are
// said: each has a bit that says whether the card told it.
func counts(s *record.Sample) [5]**int64 {
	return [...]**int64{&s.MemTotalBytes, &s.MemUsedBytes, &s.MemFreeBytes, &s.MemReservedBytes, &s.ThrottleReasons}
}

func levels(s *record.Sample) [7]**float64 {
	return [...]**float64{&s.UtilGPUPct, &s.UtilMemPct, &s.PowerW, &s.TemperatureC, &s.SMClockMHz, &s.MemClockMHz, &s.EnergyJ}
}

// memCalls are the calls that may have given the memory, by their number.
func memCalls() []string { return []string{"", "v1", "v2"} }

// leastSample is the length of a sample in which nothing was told, in bytes.
const leastSample = 2 + 1 + 2 + 4 + 4

// appendTaken appends a reading.
func appendTaken(b []byte, t *taken) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(t.at))
	b = binary.LittleEndian.AppendUint64(b, uint64(t.late))
	b = binary.LittleEndian.AppendUint32(b, t.missed)
	forced := byte(0)
	if t.forced {
		forced = 1
	}
	b = append(b, forced)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(t.samples))) //nolint:gosec // a machine has no 65536 cards
	for i := range t.samples {
		b = appendSample(b, &t.samples[i])
	}
	return b
}

func appendSample(b []byte, s *record.Sample) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(s.Device))        //nolint:gosec // as above
	b = append(b, byte(max(0, slices.Index(memCalls(), s.MemCall)))) //nolint:gosec // one of three
	at, told := len(b), uint16(0)
	b = append(b, 0, 0)
	bit := uint16(1)
	for _, v := range counts(s) {
		if *v != nil {
			b, told = binary.LittleEndian.AppendUint64(b, uint64(**v)), told|bit
		}
		bit <<= 1
	}
	for _, v := range levels(s) {
		if *v != nil {
			b, told = binary.LittleEndian.AppendUint64(b, math.Float64bits(**v)), told|bit
		}
		bit <<= 1
	}
	binary.LittleEndian.PutUint16(b[at:], told)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.UtilSamplesPct))) //nolint:gosec // the driver keeps some hundred
	for _, v := range s.UtilSamplesPct {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Processes))) //nolint:gosec // a machine has fewer
	for _, v := range s.Processes {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// errDamaged is what is wrong with readings that appendTaken did not write.
var errDamaged = errors.New("its readings are damaged")

// readTaken reads all readings of a frame. Whatever it is given, it takes no more memory
// than some times as much.
func readTaken(body []byte) ([]taken, error) {
	var all []taken
	for c := (&cursor{rest: body}); len(c.rest) > 0; {
		t := taken{at: int64(c.uint64()), late: int64(c.uint64()), missed: c.uint32(), forced: c.byte() == 1}
		n := int(c.uint16())
		if n*leastSample > len(c.rest) {
			return nil, errDamaged
		}
		t.samples = make([]record.Sample, n)
		for i := range t.samples {
			c.sample(&t.samples[i])
		}
		if c.damaged || t.late < 0 {
			return nil, errDamaged
		}
		all = append(all, t)
	}
	return all, nil
}

// cursor reads on in a frame. Behind its end there are zeros, and it says so.
type cursor struct {
	rest    []byte
	damaged bool
}

func (c *cursor) next(n int) []byte {
	if n > len(c.rest) {
		c.damaged, c.rest = true, nil
		return make([]byte, n)
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) byte() byte     { return c.next(1)[0] }
func (c *cursor) uint16() uint16 { return binary.LittleEndian.Uint16(c.next(2)) }
func (c *cursor) uint32() uint32 { return binary.LittleEndian.Uint32(c.next(4)) }
func (c *cursor) uint64() uint64 { return binary.LittleEndian.Uint64(c.next(8)) }

// float is a finite number: the driver has no others.
func (c *cursor) float() float64 {
	v := math.Float64frombits(c.uint64())
	c.damaged = c.damaged || math.IsNaN(v) || math.IsInf(v, 0)
	return v
}

func (c *cursor) sample(s *record.Sample) {
	s.Device = int(c.uint16())
	call, told := int(c.byte()), c.uint16()
	if call >= len(memCalls()) || told>>(len(counts(s))+len(levels(s))) != 0 {
		c.damaged = true
		return
	}
	s.MemCall = memCalls()[call]
	var values struct { // together, as they live as long
		counts [5]int64
		levels [7]float64
	}
	for i, v := range counts(s) {
		if told&1 != 0 {
			values.counts[i] = int64(c.uint64())
			*v = &values.counts[i]
		}
		told >>= 1
	}
	for i, v := range levels(s) {
		if told&1 != 0 {
			values.levels[i] = c.float()
			*v = &values.levels[i]
		}
		told >>= 1
	}
	s.UtilSamplesPct = eights(c, c.float)
	s.Processes = eights(c, func() int64 { return int64(c.uint64()) })
}

// eights reads a length and as many values of eight bytes; nil where there are none.
func eights[T any](c *cursor, one func() T) []T {
	n := c.uint32()
	if uint64(n)*8 > uint64(len(c.rest)) {
		c.damaged = true
		return nil
	}
	var out []T
	for range n {
		out = append(out, one())
	}
	return out
}
