package booking

import (
	"reflect"
	"testing"
)

func TestHidden(t *testing.T) {
	day := Span{9, 17}
	for _, c := range []struct{ booked, want []Span }{
		{[]Span{{13, 15}, {9, 12}, {10, 11}}, []Span{{12, 13}, {15, 17}}},
		{nil, []Span{{9, 17}}},
		{[]Span{{9, 17}}, nil},
		{[]Span{{7, 8}, {6, 10}, {16, 20}, {18, 19}}, []Span{{10, 16}}},
		{[]Span{{18, 19}}, []Span{{9, 17}}},
		{[]Span{{5, 6}}, []Span{{9, 17}}},
		{[]Span{{10, 12}, {12, 14}}, []Span{{9, 10}, {14, 17}}},
		{[]Span{{8, 18}}, nil},
	} {
		before := append([]Span(nil), c.booked...)
		got := Free(day, c.booked)
		if len(got) != len(c.want) || len(got) > 0 && !reflect.DeepEqual(got, c.want) {
			t.Errorf("Free(%v) is %v, want %v", c.booked, got, c.want)
		}
		if !reflect.DeepEqual(before, c.booked) {
			t.Errorf("the caller's slice is %v, was %v", c.booked, before)
		}
	}
}
