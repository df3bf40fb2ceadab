package bus_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"choiros/internal/choir"
)

// FuzzCommandRequest decodes a body as the request of every verb: what is
// accepted survives being written and read again, a refusal names a path.
func FuzzCommandRequest(f *testing.F) {
	f.Add([]byte(`{"drafts":[{"id":"` + userID + `","type":"plan.made","payload":{}}]}`))
	f.Add([]byte(`{"seq":1,"limit":10}`))
	f.Add([]byte(`{"digest":"` + choir.ZeroHash + `","size":1,"offset":0,"chunk":"AA=="}`))
	f.Add([]byte(`{"task":"` + userID + `","keep":["a\n"]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, v := range choir.Verbs() {
			req := reflect.New(reflect.TypeOf(v.Request))
			if err := choir.DecodeStrict(body, req.Interface()); err != nil {
				var e *choir.Error
				if !errors.As(err, &e) || e.Path == "" {
					t.Fatalf("%s refused without a path: %v", v.Verb, err)
				}
				continue
			}
			raw, err := json.Marshal(req.Interface())
			if err != nil {
				t.Fatal(err)
			}
			again := reflect.New(reflect.TypeOf(v.Request))
			if err := choir.DecodeStrict(raw, again.Interface()); err != nil || !reflect.DeepEqual(again.Interface(), req.Interface()) {
				t.Fatalf("%s: %s became %+v, %v", v.Verb, raw, again, err)
			}
		}
	})
}
