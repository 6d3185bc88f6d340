package internet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// bundle is where the machine's trusted certificates are, hashed its folder of single ones.
const (
	bundle = "/etc/ssl/certs/ca-certificates.crt"
	hashed = "/etc/ssl/certs/"
)

// AuthorityName is the common name of the certificate authority that the machine trusts, and nobody else.
const AuthorityName = "small internet test authority"

// CAFile is the authority's certificate on the machine, for programs with a store of their own (NODE_EXTRA_CA_CERTS).
const CAFile = "/etc/ssl/certs/small-internet.pem"

// Authority signs the servers' certificates.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey

	mu     sync.Mutex
	leaves map[string]*tls.Certificate
}

func newAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: AuthorityName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Authority{cert: cert, key: key, leaves: map[string]*tls.Certificate{}}, nil
}

// Leaf is the certificate for a name or an address, the same one each time.
func (a *Authority) Leaf(name string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if leaf := a.leaves[name]; leaf != nil {
		return leaf, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name, "*." + name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("certificate for %s: %w", name, err)
	}
	leaf := &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}
	a.leaves[name] = leaf
	return leaf, nil
}

// Pool is a pool that trusts the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// serving is a TLS configuration that shows, for each name asked for, that name's own certificate, and fallback's to
// those who ask for none.
func (a *Authority) serving(fallback string) *tls.Config {
	return &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
		if name == "" {
			name = fallback
		}
		return a.Leaf(name)
	}}
}

// write writes a name's certificate and key for a server that reads files.
func (a *Authority) write(name, certFile, keyFile string, owner int) error {
	leaf, err := a.Leaf(name)
	if err != nil {
		return err
	}
	var chain []byte
	for _, der := range leaf.Certificate {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	der, err := x509.MarshalPKCS8PrivateKey(leaf.PrivateKey)
	if err != nil {
		return err
	}
	if err := os.WriteFile(certFile, chain, 0o644); err != nil {
		return err
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(keyFile, key, 0o600); err != nil {
		return err
	}
	return os.Chown(keyFile, owner, owner)
}

// trust makes the machine trust the authority: in the bundle, and under its hash in the folder beside it.
func (a *Authority) trust() error {
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	if err := os.WriteFile(CAFile, text, 0o644); err != nil {
		return fmt.Errorf("writing the test authority: %w", err)
	}
	if err := appendTo(bundle, string(text)); err != nil {
		return err
	}
	out, err := exec.Command("openssl", "x509", "-noout", "-subject_hash", "-in", CAFile).Output()
	if err != nil {
		return fmt.Errorf("hashing the test authority's name: %w", err)
	}
	return os.Symlink(CAFile, hashed+strings.TrimSpace(string(out))+".0")
}
