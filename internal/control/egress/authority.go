package egress

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"choiros/internal/choir"
)

// Authority signs certificates for hosts whose TLS ends at the proxy. One computer's sandbox trusts
// it and nobody else; its key stays in the control plane. Its methods are safe for concurrent use.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	now  func() time.Time

	mu     sync.Mutex // guards leaves
	leaves map[string]*tls.Certificate
}

// Life of the authority and of the certificates that it signs.
const (
	authorityLife = 20 * 365 * 24 * time.Hour
	leafLife      = 7 * 24 * time.Hour
	maxLeaves     = 256
)

// TrustFolder is the folder below an authority's that sandboxes may see: TrustFile is its
// certificate, and BundleFile that and the roots that this host trusts.
const (
	TrustFolder = "trust"
	TrustFile   = "choir-egress.pem"
	BundleFile  = "bundle.pem"
	keyFile     = "key.pem"
)

// hostBundles are where hosts keep the roots that they trust.
var hostBundles = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}

// OpenAuthority reads the authority in a folder, or makes one with the name of a computer, and
// writes what its sandboxes trust. Code unavailable: the folder cannot be read or written.
func OpenAuthority(dir, computer string, now func() time.Time) (*Authority, error) {
	a := &Authority{now: now, leaves: map[string]*tls.Certificate{}}
	err := makeFolder(dir, 0o711)
	if err == nil {
		err = makeFolder(filepath.Join(dir, TrustFolder), 0o755)
	}
	if err == nil {
		var fault *fs.PathError
		switch err = a.read(dir); {
		case err == nil:
		case errors.As(err, &fault) && !errors.Is(err, fs.ErrNotExist): // it is there and may be whole
		default: // there is none, it was cut off by a crash, or others could read its key
			err = a.make(dir, computer)
		}
	}
	if err == nil {
		err = a.writeTrust(filepath.Join(dir, TrustFolder))
	}
	if err != nil {
		return nil, choir.Wrap("egress.authority", choir.CodeUnavailable, err, "keep the authority of the sandbox's TLS in %s", dir)
	}
	return a, nil
}

// makeFolder makes a folder with a mode, whatever the umask.
func makeFolder(path string, mode os.FileMode) error {
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return os.Chmod(path, mode)
}

// read reads the key and the certificate. A key that others can read is invalid.
func (a *Authority) read(dir string) error {
	info, err := os.Stat(filepath.Join(dir, keyFile))
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.ErrInvalid
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, TrustFolder, TrustFile), filepath.Join(dir, keyFile))
	if err != nil {
		return err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || a.now().After(pair.Leaf.NotAfter) {
		return os.ErrInvalid
	}
	a.cert, a.key = pair.Leaf, key
	return nil
}

// make makes a new authority and writes its key.
func (a *Authority) make(dir, computer string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:      pkix.Name{CommonName: "choir egress of computer " + computer},
		SerialNumber: serial(), NotBefore: a.now().Add(-time.Hour), NotAfter: a.now().Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return err
	}
	a.key = key
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, keyFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // its mode would stay
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}

// writeTrust replaces what the sandboxes trust, each file whole: programs there, which have the folder
// and read the files at any time, find the old content or the new.
func (a *Authority) writeTrust(dir string) error {
	own := a.PEM()
	bundle := own
	for _, path := range hostBundles {
		if roots, err := os.ReadFile(path); err == nil {
			bundle = append(append(roots, '\n'), own...)
			break
		}
	}
	for name, text := range map[string][]byte{TrustFile: own, BundleFile: bundle} {
		path, fresh := filepath.Join(dir, name), filepath.Join(dir, "."+name+".new")
		if err := errors.Join(os.WriteFile(fresh, text, 0o644), os.Chmod(fresh, 0o644)); err != nil {
			return err
		}
		if err := os.Rename(fresh, path); err != nil {
			return err
		}
	}
	return nil
}

// PEM returns the certificate of the authority.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// leaf returns a certificate for a canonical host.
func (a *Authority) leaf(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.leaves[host]; c != nil && a.now().Before(c.Leaf.NotAfter.Add(-leafLife/2)) {
		return c, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: clip(host, 64)}, SerialNumber: serial(),
		NotBefore: a.now().Add(-time.Hour), NotAfter: a.now().Add(leafLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if isAddress(host) {
		template.IPAddresses = []net.IP{net.ParseIP(host)}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	if len(a.leaves) >= maxLeaves {
		clear(a.leaves)
	}
	c := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: parsed}
	a.leaves[host] = c
	return c, nil
}

// serial returns a random serial number.
func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) // the random source never fails
	}
	return n
}
