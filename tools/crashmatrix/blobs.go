package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// blobs walks every snapshot that the log names: each file that was ever
// acknowledged can be had again, whatever became of the workspace.
func (c *checker) blobs() {
	done := map[string]bool{}
	for _, e := range c.events {
		var p struct {
			Snapshot string `json:"snapshot"`
			Result   struct {
				Snapshot string `json:"snapshot"`
			} `json:"result"`
		}
		if json.Unmarshal(e.Payload, &p) != nil {
			continue
		}
		for _, root := range []string{p.Snapshot, p.Result.Snapshot} {
			if root == "" {
				continue
			}
			if err := c.tree(root, done); err != nil {
				c.errorf("snapshot of event %d: %v", e.Seq, err)
			}
		}
	}
}

func (c *checker) blob(digest string) ([]byte, error) {
	raw, err := os.ReadFile(filepath.Join(c.dir, "blobs", digest[:2], digest))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("blob %s is not what it says", digest)
	}
	return raw, nil
}

// tree checks a folder's manifest and everything below it.
func (c *checker) tree(digest string, done map[string]bool) error {
	if done[digest] {
		return nil
	}
	done[digest] = true
	raw, err := c.blob(digest)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(raw), "choirmf\x01") || len(raw) < 26 {
		return fmt.Errorf("%s is no manifest", digest)
	}
	at := 26
	for range binary.BigEndian.Uint32(raw[22:]) {
		kind, name := raw[at], int(raw[at+1])
		at += 2 + name
		switch kind {
		case 'd':
			err = c.tree(hex.EncodeToString(raw[at:at+32]), done)
			at += 32
		case 'f':
			size, content := binary.BigEndian.Uint64(raw[at+14:]), hex.EncodeToString(raw[at+22:at+54])
			at += 54
			if size > 0 && !done[content] {
				done[content] = true
				_, err = c.blob(content)
			}
		case 'l':
			at += 14 + 2 + int(binary.BigEndian.Uint16(raw[at+14:]))
		default:
			at += 14
		}
		if err != nil {
			return err
		}
	}
	return nil
}
