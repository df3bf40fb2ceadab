package firecrackertest

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

const (
	newcMagic   = "070701"
	newcHeader  = 110
	newcTrailer = "TRAILER!!!"
)

// unpackInitial returns the files of an initial file system, which is one or more cpio archives
// in the format newc.
func unpackInitial(raw []byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	for {
		raw = bytes.TrimLeft(raw, "\x00") // between two archives
		if len(raw) == 0 {
			return out, nil
		}
		name, content, rest, err := nextEntry(raw)
		if err != nil {
			return nil, err
		}
		if raw = rest; name != newcTrailer {
			out[name] = content
		}
	}
}

func nextEntry(raw []byte) (name string, content, rest []byte, err error) {
	if len(raw) < newcHeader || string(raw[:len(newcMagic)]) != newcMagic {
		return "", nil, nil, fmt.Errorf("the initial file system has no archive at %.8q", raw)
	}
	field := func(i int) int {
		n, failed := strconv.ParseInt(string(raw[6+8*i:14+8*i]), 16, 32)
		err = errors.Join(err, failed)
		return int(n)
	}
	size, nameSize := field(6), field(11)
	begin := (newcHeader + nameSize + 3) &^ 3
	end := begin + size
	if err != nil || nameSize < 1 || end > len(raw) {
		return "", nil, nil, errors.Join(errors.New("the initial file system is cut short"), err)
	}
	return string(raw[newcHeader : newcHeader+nameSize-1]), raw[begin:end], raw[min(len(raw), (end+3)&^3):], nil
}
