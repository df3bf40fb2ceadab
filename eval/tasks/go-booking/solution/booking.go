// Package booking finds free time in a day.
package booking

import "sort"

// Span is a time from From up to, but not with, To, in hours.
type Span struct{ From, To int }

// Free returns the spans of day that no booking takes, in order.
func Free(day Span, booked []Span) []Span {
	sorted := append([]Span(nil), booked...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].From < sorted[j].From })
	var free []Span
	at := day.From
	for _, b := range sorted {
		if b.From >= day.To {
			break
		}
		if b.From > at {
			free = append(free, Span{at, b.From})
		}
		if b.To > at {
			at = b.To
		}
	}
	if at < day.To {
		free = append(free, Span{at, day.To})
	}
	return free
}
