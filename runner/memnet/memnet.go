// Package memnet is a network in memory, of one server and without a socket. Tests in
// virtual time use it: what waits for it is blocked for good, so that their clock goes on.
package memnet

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// Listener is a server's end, and the way to it.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen opens a listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses all that would connect from then on.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is an address on loopback, where nobody listens.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000} }

// Dial connects, whatever the address. Its errors are those of a network.
func (l *Listener) Dial(ctx context.Context, network, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
	}
}

// Net is the way to a server that is started again and listens anew each time.
type Net struct {
	mu  sync.Mutex
	now *Listener
}

// Listen opens the listener that is dialled from then on.
func (n *Net) Listen(context.Context) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.now = Listen()
	return n.now, nil
}

// Dial connects to the listener that was opened last.
func (n *Net) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	now := n.now
	n.mu.Unlock()
	if now == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	return now.Dial(ctx, network, address)
}
