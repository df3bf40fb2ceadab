package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
)

// event is one record of a journal, read as docs/FORMAT.md says.
type event struct {
	raw     []byte
	Seq     uint64          `json:"seq"`
	ID      string          `json:"id"`
	Hash    string          `json:"hash"`
	Prev    string          `json:"prev_hash"`
	Type    string          `json:"type"`
	Time    string          `json:"time"`
	Source  string          `json:"source"`
	Run     string          `json:"run"`
	Task    string          `json:"task"`
	Payload json.RawMessage `json:"payload"`

	file string // where it lies
	at   int
	size int
}

// readJournal reads every record and gives what is wrong with them.
func readJournal(dir string) (events []event, wrong []string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		return nil, []string{err.Error()}
	}
	slices.Sort(files)
	prev := hex.EncodeToString(make([]byte, 32))
	for i, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return events, append(wrong, err.Error())
		}
		if said := checkHeader(raw, uint64(len(events)+1), prev); said != "" {
			wrong = append(wrong, filepath.Base(file)+": "+said)
			continue
		}
		at := 52
		for at < len(raw) {
			e, said := parseRecord(raw[at:])
			if said == "zeros" && i == len(files)-1 {
				break
			}
			if said == "" {
				said = e.follows(uint64(len(events)+1), prev)
			}
			if said != "" {
				wrong = append(wrong, fmt.Sprintf("%s, byte %d, event %d: %s", filepath.Base(file), at, len(events)+1, said))
				break
			}
			e.file, e.at = file, at
			events, prev = append(events, e), e.Hash
			at += e.size
		}
	}
	return events, wrong
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checkHeader(raw []byte, first uint64, prev string) string {
	switch {
	case len(raw) < 52 || string(raw[:8]) != "CHOIRJ01":
		return "no header"
	case binary.LittleEndian.Uint32(raw[48:]) != crc32.Checksum(raw[:48], castagnoli):
		return "the header's checksum is wrong"
	case binary.LittleEndian.Uint64(raw[8:]) != first:
		return fmt.Sprintf("begins with event %d, not %d", binary.LittleEndian.Uint64(raw[8:]), first)
	case hex.EncodeToString(raw[16:48]) != prev:
		return "does not follow from the segment before"
	}
	return ""
}

func parseRecord(raw []byte) (e event, said string) {
	if len(bytes.TrimLeft(raw[:min(len(raw), 512)], "\x00")) == 0 {
		return e, "zeros"
	}
	if len(raw) < 60 || string(raw[:4]) != "CJR1" {
		return e, "no record"
	}
	n := int(binary.LittleEndian.Uint32(raw[4:]))
	if n > 262144 || 60+n > len(raw) {
		return e, "its length is wrong"
	}
	e.size = 60 + n
	whole := append(slices.Clone(raw[:24]), raw[28:e.size]...)
	if binary.LittleEndian.Uint32(raw[24:]) != crc32.Checksum(whole, castagnoli) {
		return e, "its checksum is wrong"
	}
	e.raw = slices.Clone(raw[28 : 28+n])
	if err := json.Unmarshal(e.raw, &e); err != nil {
		return e, err.Error()
	}
	if hex.EncodeToString(raw[28+n:e.size]) != e.Hash || binary.LittleEndian.Uint64(raw[8:]) != e.Seq {
		return e, "the record names another event"
	}
	return e, ""
}

// follows holds an event against its place in the chain.
func (e event) follows(seq uint64, prev string) string {
	without := bytes.Replace(e.raw, []byte(`,"hash":"`+e.Hash+`"`), nil, 1)
	sum := sha256.Sum256(without)
	switch {
	case hex.EncodeToString(sum[:]) != e.Hash:
		return "its hash is wrong"
	case e.Seq != seq:
		return fmt.Sprintf("is number %d", e.Seq)
	case e.Prev != prev:
		return "does not follow from the event before"
	}
	return ""
}

// forge changes an event, and its hash and checksum with it.
func forge(segment []byte, e event) []byte {
	without := bytes.Replace(e.raw, []byte(`,"hash":"`+e.Hash+`"`), nil, 1)
	changed := bytes.Replace(without, []byte(`"time":"20`), []byte(`"time":"21`), 1)
	sum := sha256.Sum256(changed)
	raw := bytes.Replace(e.raw, []byte(`"time":"20`), []byte(`"time":"21`), 1)
	raw = bytes.Replace(raw, []byte(e.Hash), []byte(hex.EncodeToString(sum[:])), 1)
	out := slices.Clone(segment)
	copy(out[e.at+28:], raw)
	copy(out[e.at+28+len(raw):], sum[:])
	whole := append(slices.Clone(out[e.at:e.at+24]), out[e.at+28:e.at+e.size]...)
	binary.LittleEndian.PutUint32(out[e.at+24:], crc32.Checksum(whole, castagnoli))
	return out
}

// hashes gives the hash of each event that choir log --json printed, by number.
func hashes(lines []byte) (map[uint64]string, error) {
	there := map[uint64]string{}
	for line := range bytes.Lines(lines) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("choir log --json: %w", err)
		}
		there[e.Seq] = e.Hash
	}
	return there, nil
}
