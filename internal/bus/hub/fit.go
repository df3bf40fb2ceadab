package hub

import "choiros/internal/choir"

// Fit returns the longest prefix of events that fits in one reply, at least one event.
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
