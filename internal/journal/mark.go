package journal

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The mark is a file with the sequence number of an acknowledged event, written
// at Close and when a segment ends. The log only grows, so an old mark is still
// true: what is missing up to it was lost, not torn. Without it nothing is lost
// but this certainty, so a mark that cannot be read counts as 0.
const markName = "mark"

func readMark(dir string) uint64 {
	raw, err := os.ReadFile(filepath.Join(dir, markName))
	if err != nil {
		return 0
	}
	seq, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return 0
	}
	return seq
}

func writeMark(dir string, seq uint64) error {
	return files.Write(filepath.Join(dir, markName), []byte(strconv.FormatUint(seq, 10)+"\n"))
}
