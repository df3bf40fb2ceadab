package hub

import "choiros/internal/choir"

// Fit cuts a list of events so that it fits one reply, keeping at least one.
func Fit(events []choir.Event) []choir.Event {
	const envelope = 512 // everything of an event but its payload, and some
	room := MaxPayload - 4096
	for i := range events {
		if room -= len(events[i].Payload) + envelope + 2*len(events[i].Type); room < 0 && i > 0 {
			return events[:i]
		}
	}
	return events
}
