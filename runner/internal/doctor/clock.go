package doctor

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const setClock = "set the clock, best by letting the system do it (NTP); in a virtual machine that was asleep, restart it"

// Bounds of what clocks may differ by.
const (
	// fileSkew: make and the go command compare times of files.
	fileSkew = 5 * time.Second
	// otherSkew: certificates of the outside are good from a moment on.
	otherSkew = 5 * time.Minute
)

// clock compares the machine's clock with the times of files, with the cluster's
// certificates, and with the clock of the module proxy.
func clock(ctx context.Context, o Options) Finding {
	at, err := existingParent(o.Home)
	if err == nil {
		var made time.Time
		if made, err = stamp(at); err == nil {
			if off := time.Since(made).Abs(); off > fileSkew {
				return warn("put LAB_HOME on a local disk, or set the clocks of this machine and of its file server alike", "a new file in %s is %s off: builds may be done twice, or not when they should", at, off.Round(time.Second))
			}
		}
	}
	if err != nil {
		return failed("see LAB_HOME above", "can't be compared: %v", err)
	}
	now := time.Now()
	for _, f := range glob(filepath.Join(o.Home, "clusters", "embedded", "pki"), "*") {
		cert := readCert(f)
		switch {
		case cert == nil:
		case now.Before(cert.NotBefore):
			return failed(setClock, "it is %s here, and the cluster's certificate %s is good from %s on: the clock was set back", now.Format(time.DateTime), filepath.Base(f), cert.NotBefore.Local().Format(time.DateTime))
		case now.After(cert.NotAfter):
			return failed(setClock+"; if it is right, make the cluster anew: make clean cluster-up", "it is %s here, and the cluster's certificate %s was good until %s", now.Format(time.DateTime), filepath.Base(f), cert.NotAfter.Local().Format(time.DateTime))
		}
	}
	return compareClock(ctx, o)
}

// compareClock asks the module proxy for the time, which every answer tells.
func compareClock(ctx context.Context, o Options) Finding {
	text, err := command(ctx, o.Root, []string{"GOTOOLCHAIN=local", "GOWORK=off"}, "go", "env", "GOPROXY")
	alone := ok("files agree with it; there was no other clock to compare with")
	if err != nil {
		return alone
	}
	for _, address := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '|' }) {
		if !strings.HasPrefix(address, "http") {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
		if err != nil {
			return alone
		}
		before := time.Now()
		resp, err := http.DefaultClient.Do(r)
		var invalid x509.CertificateInvalidError
		if errors.As(err, &invalid) && invalid.Reason == x509.Expired {
			return failed(setClock, "by it (%s) the certificate of %s is not good", before.Format(time.DateTime), redact(address))
		}
		if err != nil {
			return alone
		}
		defer resp.Body.Close()
		theirs, err := http.ParseTime(resp.Header.Get("Date"))
		if err != nil {
			return alone
		}
		middle := before.Add(time.Since(before) / 2)
		if off := middle.Sub(theirs).Abs(); off > otherSkew {
			return warn(setClock, "it differs from that of %s by %s", redact(address), off.Round(time.Second))
		}
		return ok("agrees with files and with %s", redact(address))
	}
	return alone
}

func readCert(file string) *x509.Certificate {
	if filepath.Ext(file) != ".crt" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return cert
}
