// Package booking finds free time in a day.
package booking

// Span is a time from From up to, but not with, To, in hours.
type Span struct{ From, To int }

// Free returns the spans of day that no booking takes, in order.
func Free(day Span, booked []Span) []Span {
	var free []Span
	at := day.From
	for _, b := range booked {
		if b.From > at {
			free = append(free, Span{at, b.From})
		}
		at = b.To
	}
	if at < day.To {
		free = append(free, Span{at, day.To})
	}
	return free
}
