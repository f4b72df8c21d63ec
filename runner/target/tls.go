package target

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"rung/spec/plan"
)

// TLS reads the files of a block tls. Without one it is nil, and an https server is known
// by the system's authorities. Its errors name the file.
func TLS(t *plan.TLS) (*tls.Config, error) {
	if t == nil {
		return nil, nil //nolint:nilnil // the transport's own defaults
	}
	out := &tls.Config{InsecureSkipVerify: t.Insecure} //nolint:gosec // only where the spec says so
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("target.tls.ca: %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("target.tls.ca: %s has no certificate in PEM form", t.CA)
		}
	}
	if t.Certificate != "" {
		own, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, fmt.Errorf("target.tls.certificate %s and key %s: %w", t.Certificate, t.Key, err)
		}
		out.Certificates = []tls.Certificate{own}
	}
	return out, nil
}
