package guest

import (
	"bytes"
	"context"

	"choiros/internal/choir"
)

// Output is the result of Run.
type Output struct {
	Stdout, Stderr []byte
	Exit           Exit
}

// Run executes a command until its end and returns its output, at most max bytes of each
// stream; more is code too_large, with the output so far. A non-nil stdin is written to
// its standard input.
func (c *Client) Run(ctx context.Context, spec ExecSpec, stdin []byte, max int) (Output, error) {
	spec.Stdin = stdin != nil
	p, err := c.Exec(ctx, spec)
	if err != nil {
		return Output{}, err
	}
	fed := make(chan struct{})
	go func() { // ends with the input or, at the latest, with Wait
		defer close(fed)
		if stdin == nil {
			return
		}
		if _, err := p.Write(stdin); err == nil {
			p.CloseStdin()
		}
	}()
	stdout, stderr := bounded{max: max}, bounded{max: max}
	exit, err := p.Wait(&stdout, &stderr)
	<-fed
	return Output{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Exit: exit}, err
}

// bounded is a buffer that refuses to grow beyond max bytes.
type bounded struct {
	bytes.Buffer
	max int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.max - b.Len(); len(p) > room {
		b.Buffer.Write(p[:room])
		return room, choir.E("guest.run", choir.CodeTooLarge, "the command wrote more than %d bytes", b.max)
	}
	return b.Buffer.Write(p)
}
