package hub

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/nats-io/nkeys"

	"choiros/internal/choir"
)

// keyring holds the keys that sign all credentials. They are stored, so that sandboxes
// that outlive the control plane are accepted by the next one.
type keyring struct {
	operator, account, system nkeys.KeyPair
}

// openKeys reads the keys in the folder dir and creates missing ones.
func openKeys(dir string) (*keyring, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, choir.Wrap("bus.keys", choir.CodeUnavailable, err, "make the folder of keys %s", dir)
	}
	k := &keyring{}
	for _, slot := range []struct {
		name string
		into *nkeys.KeyPair
		make func() (nkeys.KeyPair, error)
	}{
		{"operator.nk", &k.operator, nkeys.CreateOperator},
		{"account.nk", &k.account, nkeys.CreateAccount},
		{"system.nk", &k.system, nkeys.CreateAccount},
	} {
		kp, err := openKey(filepath.Join(dir, slot.name), slot.make)
		if err != nil {
			return nil, err
		}
		*slot.into = kp
	}
	return k, nil
}

// openKey reads the key in the file path, or creates it if the file is missing. Code
// corrupt: the file holds no key; it is not replaced, because that would invalidate all
// credentials in use.
func openKey(path string, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
	seed, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return makeKey(path, create)
	}
	if err != nil {
		return nil, choir.Wrap("bus.keys", choir.CodeUnavailable, err, "read the key %s", path)
	}
	kp, err := nkeys.FromSeed(seed)
	if err != nil {
		e := choir.E("bus.keys", choir.CodeCorrupt, "%s does not hold a key", path)
		e.Err = err
		return nil, e.WithRemedy("remove the file; sandboxes that still run must then be started anew")
	}
	return kp, nil
}

// makeKey creates a key and stores it in the file path.
func makeKey(path string, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, error) {
	kp, err := create()
	if err != nil {
		return nil, choir.Wrap("bus.keys", choir.CodeInternal, err, "make a key")
	}
	seed, err := kp.Seed()
	if err != nil {
		return nil, choir.Wrap("bus.keys", choir.CodeInternal, err, "encode a key")
	}
	return kp, choir.Wrap("bus.keys", choir.CodeUnavailable, keyFiles.Write(path, seed), "keep the key %s", path)
}

// publicKey returns the public half of a key. An error is a defect.
func publicKey(kp nkeys.KeyPair) (string, error) {
	pub, err := kp.PublicKey()
	return pub, choir.Wrap("bus.keys", choir.CodeInternal, err, "read a public key")
}
