package certs

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
)

// Kubeconfig returns a kubeconfig by which the named client reaches server. The
// certificates are in it, so the file may be copied anywhere.
func (p *PKI) Kubeconfig(client, server string) ([]byte, error) {
	c, err := p.client(client)
	if err != nil {
		return nil, err
	}
	key, err := encodeKey(c.key)
	if err != nil {
		return nil, err
	}
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: controllings
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %s
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: controllings
  context:
    cluster: controllings
    user: %[3]s
current-context: controllings
`, server, b64(encodeCert(p.ca.cert)), client, b64(encodeCert(c.cert)), b64(key)), nil
}

// TLS returns how the named client connects to the API server: which authority
// it trusts, and which certificate it shows.
func (p *PKI) TLS(client string) (*tls.Config, error) {
	c, err := p.client(client)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		RootCAs:      p.CA(),
		Certificates: []tls.Certificate{{Certificate: [][]byte{c.cert.Raw}, PrivateKey: c.key}},
	}, nil
}
