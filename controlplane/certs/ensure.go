package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/controllings/controllings/controlplane/files"
)

// leaf describes a certificate that is not an authority.
type leaf struct {
	file           string
	user           string
	groups         []string
	server, client bool
	ips            []net.IP
	names          []string
	by             *pair
}

type ensurer struct {
	dir string
	now time.Time
}

func (e ensurer) path(file string) string { return filepath.Join(e.dir, file) }

// authority returns the authority kept under this name, or a new one.
func (e ensurer) authority(file, name string) (*pair, error) {
	if p, err := e.load(file); err == nil && p.cert.IsCA && p.cert.Subject.CommonName == name && e.fresh(p.cert) {
		return p, nil
	}
	return e.create(file, &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		NotAfter:              e.now.Add(caLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              []string{name},
	}, nil)
}

// leaf returns the certificate kept under l.file if it says what l says and its
// authority signed it, or a new one.
func (e ensurer) leaf(l leaf) (*pair, error) {
	want := &x509.Certificate{
		Subject:     pkix.Name{CommonName: l.user, Organization: l.groups},
		NotAfter:    e.now.Add(leafLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		DNSNames:    l.names,
		IPAddresses: l.ips,
	}
	if l.server {
		want.ExtKeyUsage = append(want.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if l.client {
		want.ExtKeyUsage = append(want.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	if p, err := e.load(l.file); err == nil && e.fresh(p.cert) && p.cert.CheckSignatureFrom(l.by.cert) == nil && says(p.cert, want) {
		return p, nil
	}
	return e.create(l.file, want, l.by)
}

func says(have, want *x509.Certificate) bool {
	return have.Subject.CommonName == want.Subject.CommonName &&
		slices.Equal(have.Subject.Organization, want.Subject.Organization) &&
		slices.Equal(have.ExtKeyUsage, want.ExtKeyUsage) &&
		slices.Equal(have.DNSNames, want.DNSNames) &&
		slices.EqualFunc(have.IPAddresses, want.IPAddresses, func(a, b net.IP) bool { return a.Equal(b) })
}

func (e ensurer) fresh(c *x509.Certificate) bool {
	return !e.now.Before(c.NotBefore) && e.now.Add(renewBefore).Before(c.NotAfter)
}

func (e ensurer) create(file string, t *x509.Certificate, by *pair) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key %q: %w", file, err)
	}
	if t.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, fmt.Errorf("make certificate %q: %w", file, err)
	}
	// A clock that is set back a little must not make a new certificate invalid.
	t.NotBefore = e.now.Add(-5 * time.Minute)
	parent, signer := t, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("make certificate %q: %w", file, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make certificate %q: %w", file, err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	if err := files.Write(e.path(file+".key"), keyPEM); err != nil {
		return nil, err
	}
	if err := files.Write(e.path(file+".crt"), encodeCert(cert)); err != nil {
		return nil, err
	}
	return &pair{cert: cert, key: key}, nil
}

func (e ensurer) load(file string) (*pair, error) {
	certPEM, err := os.ReadFile(e.path(file + ".crt"))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(certPEM)
	if block == nil {
		return nil, errors.New("no certificate")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, err := loadKey(e.path(file + ".key"))
	if err != nil {
		return nil, err
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return nil, errors.New("the key is another certificate's")
	}
	return &pair{cert: cert, key: key}, nil
}

// serviceAccountKey keeps sa.key, or makes one, and writes sa.pub to match. A
// new key makes all ServiceAccount tokens invalid that were given out.
func (e ensurer) serviceAccountKey() error {
	key, err := loadKey(e.path("sa.key"))
	if err != nil {
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return fmt.Errorf("make service account key: %w", err)
		}
		keyPEM, err := encodeKey(key)
		if err != nil {
			return err
		}
		if err := files.Write(e.path("sa.key"), keyPEM); err != nil {
			return err
		}
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode service account key: %w", err)
	}
	want := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	if have, err := os.ReadFile(e.path("sa.pub")); err == nil && bytes.Equal(have, want) {
		return nil
	}
	return files.Write(e.path("sa.pub"), want)
}

func loadKey(path string) (*ecdsa.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("no key")
	}
	return x509.ParseECPrivateKey(block.Bytes)
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

func encodeCert(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}
