package journal

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"choiros/internal/choir"
)

// child is this test binary run as another process: append DIR WRITERS EACH
// appends from several goroutines and prints a line per acknowledgement.
func child(args []string) int {
	j, err := Open(args[0], Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	writers, _ := strconv.Atoi(args[1])
	each, _ := strconv.Atoi(args[2])
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				var seq uint64
				err := j.Append(func(next uint64, prev choir.Digest) ([]Record, error) {
					seq = next
					return []Record{event(next, prev, "child")}, nil
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				// One write system call, so that strace orders it.
				os.Stdout.WriteString("ack " + strconv.FormatUint(seq, 10) + "\n")
			}
		})
	}
	wg.Wait()
	return 0
}
