package choir_test

import (
	"bytes"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/choir"
	"choiros/internal/choir/choirtest"
)

// same fails unless decoding what was encoded gives the value again.
func same(t *rapid.T, v, fresh any) {
	raw, err := choir.Canonical(v)
	if err != nil {
		t.Fatalf("encode %+v: %v", v, err)
	}
	if err := choir.DecodeStrict(raw, fresh); err != nil {
		t.Fatalf("decode %s: %v", raw, err)
	}
	again, err := choir.Canonical(fresh)
	if err != nil || !bytes.Equal(raw, again) {
		t.Fatalf("encoded\n%s, after decoding\n%s (%v)", raw, again, err)
	}
	second := reflect.New(reflect.TypeOf(fresh).Elem()).Interface()
	if err := choir.DecodeStrict(again, second); err != nil || !reflect.DeepEqual(fresh, second) {
		t.Fatalf("decoded %+v, then %+v (%v)", fresh, second, err)
	}
	if fixed, err := choir.Canonicalize(raw); err != nil || !bytes.Equal(raw, fixed) {
		t.Fatalf("canonical\n%s, canonicalized\n%s (%v)", raw, fixed, err)
	}
}

func TestEveryPayloadRoundTrips(t *testing.T) {
	for _, info := range choir.Types() {
		t.Run(string(info.Type), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { same(t, choirtest.Payload(info).Draw(t, "payload"), info.New()) })
		})
	}
}

func TestEnvelopesAndVerbsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := choirtest.Value[choir.DirectorTask]().Draw(t, "task")
		same(t, &task, &choir.DirectorTask{})
		result := choirtest.Value[choir.AssociateResult]().Draw(t, "result")
		same(t, &result, &choir.AssociateResult{})
		draft := choirtest.Value[choir.AppendRequest]().Draw(t, "append")
		same(t, &draft, &choir.AppendRequest{})
		page := choirtest.Value[choir.EventsAfterReply]().Draw(t, "page")
		same(t, &page, &choir.EventsAfterReply{})
		begin := choirtest.Value[choir.TaskBeginReply]().Draw(t, "begin")
		same(t, &begin, &choir.TaskBeginReply{})
	})
}

func TestChainsDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prev := choir.ZeroHash
		for _, e := range choirtest.Chain(1, 8).Draw(t, "log") {
			raw, err := choir.EncodeEvent(&e)
			if err != nil {
				t.Fatal(err)
			}
			got, err := choir.DecodeEvent(raw)
			if err != nil || !reflect.DeepEqual(got, e) {
				t.Fatalf("event\n%+v, decoded\n%+v (%v)", e, got, err)
			}
			if got.PrevHash != prev {
				t.Fatalf("event %d links to %s, not %s", got.Seq, got.PrevHash, prev)
			}
			if _, err := choir.DecodePayload(got.Type, got.Payload); err != nil {
				t.Fatal(err)
			}
			prev = got.Hash
		}
	})
}
