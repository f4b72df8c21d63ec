package target

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rung/sinks/record"
)

// SaysOOM says whether a server's words are of memory that ran out: in those of CUDA,
// PyTorch, C++, Python, ggml and the kernel.
func SaysOOM(text string) bool { return saysOOM.MatchString(text) }

// SaysCUDA says whether a server's words are of an error of CUDA's.
func SaysCUDA(text string) bool { return saysCUDA.MatchString(text) }

// errorBytes is how much of a failed answer is kept.
const errorBytes = 2 << 10

// classifyError names a transport failure.
func classifyError(r Reply) record.Outcome {
	var dns *net.DNSError
	var timeout net.Error
	var ended programError
	switch err := r.Err; {
	case errors.Is(err, errTooLarge):
		return record.BadResponse
	case errors.As(err, &ended) && saysOOM.MatchString(err.Error()):
		return record.OOM
	case errors.As(err, &ended) && saysCUDA.MatchString(err.Error()):
		return record.CUDAError
	case errors.Is(err, context.DeadlineExceeded):
		return record.Timeout
	case errors.Is(err, context.Canceled):
		return record.Cancelled
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.ENOBUFS):
		return record.ClientLimited
	case errors.As(err, &timeout) && timeout.Timeout():
		return record.Timeout
	case r.Stage == record.StageConnect || errors.As(err, &dns) || errors.Is(err, syscall.ECONNREFUSED):
		return record.Refused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return record.Reset
	case closedIdle(err):
		return record.Reset
	case r.Status != 0:
		return record.Reset // the answer began and broke off
	default:
		return record.BadResponse // what came was no HTTP
	}
}

// closedIdle says whether net/http found that the server had closed the connection
// before a byte of the request was on it. It has a name for that which it keeps to
// itself.
func closedIdle(err error) bool {
	return strings.Contains(err.Error(), "server closed idle connection")
}

// What servers say, whatever the status: llama.cpp answers 500 to an input that
// is too long, and a stream can fail behind a 200.
var (
	saysOOM = regexp.MustCompile(`(?i)out of memory|OutOfMemory|CUDA_ERROR_OUT_OF_MEMORY|CUBLAS_STATUS_ALLOC_FAILED|` +
		`\bMemoryError\b|std::bad_alloc|can(no|')t allocate memory|not enough memory|failed to allocate|\boom-kill`)
	saysCUDA    = regexp.MustCompile(`(?i)CUDA error|cudaError|CUDA_ERROR|CUBLAS_STATUS|CUDNN_STATUS|NCCL error|device-side assert`)
	saysTooLong = regexp.MustCompile(`(?i)maximum context length|too large to process|must have less than|exceeds the available context|` +
		`context size has been exceeded|maximum allowed batch size|length limit exceeded|(is|are) longer than the (maximum|model)|` +
		`too many (tokens|inputs)|cannot be greater than max_model_len|exceeds? the (maximum|model's)|should have at most \d+ items`)
	saysOverloaded = regexp.MustCompile(`(?i)overloaded|queue is full`)
)

// classifyStatus names an answer that is no success by its status and its words.
func classifyStatus(status int, body []byte) record.Outcome {
	text := body[:min(len(body), errorBytes)]
	// A refusal of the request (4xx) may echo the prompt, whatever it says.
	fault := status >= 500 || status == http.StatusOK || status == http.StatusFailedDependency
	switch {
	case fault && saysOOM.Match(text):
		return record.OOM
	case fault && saysCUDA.Match(text):
		return record.CUDAError
	case saysTooLong.Match(text) || status == http.StatusRequestEntityTooLarge:
		return record.TooLong
	case status == http.StatusTooManyRequests && saysOverloaded.Match(text):
		return record.Overloaded
	case status == http.StatusTooManyRequests:
		return record.RateLimited
	case status == http.StatusServiceUnavailable:
		return record.Unavailable
	case status >= 500 || status == http.StatusFailedDependency: // TEI says 424 of its backend
		return record.ServerError
	case status >= 300:
		return record.ClientError
	default:
		return record.BadResponse
	}
}

// retryAfter reads both forms of the header: seconds, and a date.
func retryAfter(h http.Header, now time.Time) *float64 {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
		return &s
	}
	if t, err := http.ParseTime(v); err == nil {
		s := max(0, t.Sub(now).Seconds())
		return &s
	}
	return nil
}
