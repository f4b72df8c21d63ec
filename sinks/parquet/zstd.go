package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// pageCodec is Arrow's zstd codec but for one thing: Arrow makes a new encoder,
// with tables of several MiB, for each page of each column. That took 70 ms of a
// core for each part, beside the load that is being measured; one encoder takes 2.
type pageCodec struct {
	compress.Codec
	encoder *zstd.Encoder
}

// EncodeLevel compresses one page. The level is zstd's default whatever is asked.
func (c pageCodec) EncodeLevel(dst, src []byte, _ int) []byte {
	return c.encoder.EncodeAll(src, dst[:0])
}

// init replaces the codec, which is how Arrow takes one: it has no other way.
func init() {
	arrows, err := compress.GetCodec(compress.Codecs.Zstd)
	if err != nil {
		panic(fmt.Sprintf("parquet: arrow without zstd: %v", err))
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(fmt.Sprintf("parquet: zstd with constant options: %v", err))
	}
	compress.RegisterCodec(compress.Codecs.Zstd, pageCodec{Codec: arrows, encoder: encoder})
}
