// Package target speaks to the server under test: it makes bodies in the
// server's dialect, sends one request at a time with four points in time, and
// names what came back.
//
// The order matters to the figures. A body exists before Send; Send takes the
// times and the bytes and looks at neither; Read, after the clock has stopped,
// decides whether the answer is a success. A 200 proves nothing by itself.
//
// No request is ever sent twice behind the caller's back: GetBody is unset, so
// that net/http has nothing to send again.
package target
