package parquet

import (
	"encoding/binary"
	"hash/crc32"
)

// A log is a sequence of frames, each with the length of its payload and its CRC-32C
// before it, both of four bytes, little endian. The payloads, one after the other, are an
// Arrow stream. Without frames a byte that changed could make Arrow's reader claim all
// memory, or give another figure; so a log ends at its first frame that is not whole.
const frameHead = 8

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// frame puts the head before a payload that has room for it at its beginning.
func frame(b []byte) []byte {
	payload := b[frameHead:]
	binary.LittleEndian.PutUint32(b, uint32(len(payload))) //nolint:gosec // parts are far below 4 GiB
	binary.LittleEndian.PutUint32(b[4:], checksum(payload))
	return b
}

// unframe gives the payloads of a log up to its first frame that is not whole.
func unframe(b []byte) []byte {
	var out []byte
	for len(b) >= frameHead {
		n, sum := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		if b = b[frameHead:]; uint64(n) > uint64(len(b)) || checksum(b[:n]) != sum {
			break
		}
		out = append(out, b[:n]...)
		b = b[n:]
	}
	return out
}
