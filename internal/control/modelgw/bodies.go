package modelgw

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// maxBodies is the maximum of request bodies in memory for each role, and for all
// programs together. A body counts while it is read, decoded and encoded for the log.
const maxBodies = 4

// Limits of the JSON in a body. A few bytes of it become a struct of hundreds, so that
// the maximum of bytes does not bound the memory that a request takes.
const (
	maxElements = 1 << 16 // of the lists of messages, tools, blocks and their parts, all together
	maxValues   = 1 << 19 // in a body, also within schemas and within the input of tools
)

// deepestList is how deep the lists of maxElements are nested in the APIs of programs: a
// part is within the lists of the messages, of a message's blocks and of a block's parts.
// In a model.Call they are within one object more.
const deepestList = 6

// bodySlots returns the channel with one token per body in memory of a caller: a role, or
// AliasTool for all programs. Programs that send slowly hold up no role.
func (g *Gateway) bodySlots(caller string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	slots, ok := g.bodies[caller]
	if !ok {
		slots = make(chan struct{}, maxBodies)
		g.bodies[caller] = slots
	}
	return slots
}

// decodeBody reads the body of a request and passes it to decode, at most maxBodies at
// once for each caller. Lists are counted for maxElements down to the depth deepest. Code
// too_large: the body exceeds a limit; timeout: it did not arrive in time; busy: it waited
// for others for Config.BodyTime; cancelled: the request ended meanwhile.
func (g *Gateway) decodeBody(w http.ResponseWriter, r *http.Request, caller string, deepest int, decode func(body []byte) error) error {
	slots := g.bodySlots(caller)
	// net/http notices a client that has gone only once its body was read.
	patience := time.NewTimer(g.cfg.BodyTime)
	defer patience.Stop()
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-patience.C:
		return choir.E("modelgw.serve", choir.CodeBusy, "other requests were being read for %s", g.cfg.BodyTime).
			WithRemedy("ask again in a moment")
	case <-r.Context().Done():
		return choir.Wrap("modelgw.serve", choir.CodeCancelled, r.Context().Err(), "wait until other requests are read")
	}
	body, err := g.readBody(w, r)
	if err != nil {
		return err
	}
	if err := checkSize(body, deepest); err != nil {
		return err
	}
	return decode(body)
}

// readBody reads a request's body of at most model.MaxCallBytes. Code too_large: it has
// more; timeout: it did not arrive within Config.BodyTime.
func (g *Gateway) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := g.limitBodyTime(w); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, model.MaxCallBytes))
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return nil, choir.E("modelgw.serve", choir.CodeTooLarge, "the request has more than %d bytes", big.Limit).
			WithRemedy("shorten the conversation")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, choir.Wrap("modelgw.serve", choir.CodeTimeout, err, "the request did not arrive within %s", g.cfg.BodyTime)
	case err != nil:
		return nil, choir.Wrap("modelgw.serve", choir.CodeInvalid, err, "read the request")
	}
	return body, setReadDeadline(w, time.Time{})
}

// limitBodyTime ends reads of the request's body after Config.BodyTime. net/http removes
// the limit before the next request of the connection.
func (g *Gateway) limitBodyTime(w http.ResponseWriter) error {
	return setReadDeadline(w, time.Now().Add(g.cfg.BodyTime))
}

// setReadDeadline sets the deadline for reads of a request; the zero time removes it. A
// server without deadlines has its requests in memory, as in tests.
func setReadDeadline(w http.ResponseWriter, at time.Time) error {
	err := http.NewResponseController(w).SetReadDeadline(at)
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return choir.Wrap("modelgw.serve", choir.CodeUnavailable, err, "limit the time for reading the request")
}

// checkSize counts the values in JSON without decoding it, which the decoder checks later.
// Code too_large: there are more than maxValues, or more than maxElements in lists that are
// nested at most to the depth deepest.
func checkSize(body []byte, deepest int) error {
	values, elements, depth := 0, 0, 0
	lists := uint64(0) // bit n is set if the value that is open at depth n is a list
	inString := false
	for i := 0; i < len(body); i++ {
		if inString {
			switch body[i] {
			case '\\':
				i++
			case '"':
				inString = false
			}
			continue
		}
		switch body[i] {
		case '"':
			inString = true
			continue
		case '[', '{':
			depth++
			if depth <= deepest {
				lists &^= 1 << depth
			}
			if depth <= deepest && body[i] == '[' {
				lists |= 1 << depth
			}
		case ']', '}':
			depth = max(0, depth-1)
			continue
		case ',':
		default:
			continue
		}
		values++
		if depth <= deepest && lists&(1<<depth) != 0 {
			elements++
		}
		if values > maxValues || elements > maxElements {
			return choir.E("modelgw.serve", choir.CodeTooLarge, "the request has more than %d messages, blocks, parts and tools, or more than %d values in all", maxElements, maxValues).
				WithRemedy("shorten the conversation")
		}
	}
	return nil
}
