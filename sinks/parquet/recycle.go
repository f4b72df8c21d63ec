package parquet

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// recycler gives Arrow the memory that it has let go of once more, for one goroutine. A
// batch of rows needs what the one before it needed, and new memory for each would be most
// of what the garbage collector has to do for a report.
type recycler struct {
	fresh memory.GoAllocator
	free  [mostShift + 1][][]byte // by the power of two that they are long
}

// mostShift bounds what is kept: what is longer is the collector's.
const mostShift = 20

func (r *recycler) Allocate(size int) []byte {
	shift := shiftOf(size)
	if shift > mostShift {
		return r.fresh.Allocate(size)
	}
	list := r.free[shift]
	if len(list) == 0 {
		return r.fresh.Allocate(1 << shift)[:size]
	}
	r.free[shift] = list[:len(list)-1]
	return list[len(list)-1][:size]
}

// Reallocate leaves the old memory to the collector: Arrow may still look at it.
func (r *recycler) Reallocate(size int, b []byte) []byte {
	if cap(b) >= size {
		return b[:size]
	}
	out := r.Allocate(size)
	copy(out, b)
	return out
}

// Free keeps memory, as zeros: that is how Arrow takes new memory to be, and who still
// looked at it would see none of the rows to come.
func (r *recycler) Free(b []byte) {
	n := cap(b)
	if shift := shiftOf(n); n == 1<<shift && shift <= mostShift {
		b = b[:n]
		clear(b)
		r.free[shift] = append(r.free[shift], b)
	}
}

// shiftOf is the least power of two that is as long as size.
func shiftOf(size int) int { return bits.Len(uint(max(size, 1) - 1)) }
