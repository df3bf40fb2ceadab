package booking

import (
	"reflect"
	"testing"
)

func TestFree(t *testing.T) {
	got := Free(Span{9, 17}, []Span{{10, 11}, {13, 15}})
	want := []Span{{9, 10}, {11, 13}, {15, 17}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("free are %v, want %v", got, want)
	}
}
