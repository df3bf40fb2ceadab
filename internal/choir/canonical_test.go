package choir

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// TestNumbersAsECMAScriptWritesThem has the samples of RFC 8785, appendix B.
func TestNumbersAsECMAScriptWritesThem(t *testing.T) {
	cases := map[uint64]string{
		0x0000000000000000: "0",
		0x8000000000000000: "0",
		0x0000000000000001: "5e-324",
		0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308",
		0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992",
		0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000",
		0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21",
		0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	}
	for bits, want := range cases {
		got, err := Canonical(math.Float64frombits(bits))
		if err != nil || string(got) != want {
			t.Errorf("%016x is written %s (%v), want %s", bits, got, err, want)
		}
		if again, err := Canonicalize(got); err != nil || string(again) != want {
			t.Errorf("%s canonicalized is %s (%v)", got, again, err)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := Canonical(f)
		wantRefusal(t, err, CodeInvalid, "$")
	}
}

// TestExamplesOfRFC8785 has the samples of its sections 3.2.2 and 3.2.3.
func TestExamplesOfRFC8785(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"section 3.2.2", "{\n  \"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],\n" +
			`  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",` + "\n  \"literals\": [null, true, false]\n}",
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{"section 3.2.3", `{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
			`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign",` +
				`"😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`},
		{"all short escapes", `"\b\t\n\f\r\"\\\u0000\u001f\u007f\u2028"`, "\"\\b\\t\\n\\f\\r\\\"\\\\\\u0000\\u001f\u007f\u2028\""},
		{"longer name last", `{"aa":1,"a":2,"":3}`, `{"":3,"a":2,"aa":1}`},
		{"numbers of one value", `[-0,0e9,1.0,10e-1,1E0]`, `[0,0,1,1,1]`},
		{"nested", ` { "b" : [ { "d" : 1 , "c" : 2 } ] , "a" : { } } `, `{"a":{},"b":[{"c":2,"d":1}]}`},
	}
	for _, c := range cases {
		got, err := Canonicalize([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s (%v)\nwant %s", c.name, got, err, c.want)
		}
		if end := canonicalEnd([]byte(c.in), 0, 0); end == len(c.in) && c.in != c.want {
			t.Errorf("%s: %s passed for canonical", c.name, c.in)
		}
	}
}

func TestCanonicalizeRefusesWhatIsNotIJSON(t *testing.T) {
	cases := map[string]string{
		"":                          "$",
		" ":                         "$",
		"nul":                       "$",
		"nulll":                     "$",
		"{} {}":                     "$",
		`{"a":1,}`:                  "$",
		`[1,]`:                      "[1]",
		`[1 2]`:                     "$",
		`{"a" 1}`:                   "$",
		`{"a":1,"a":2}`:             "a",
		`{"a":1,"\u0061":2}`:        "a",
		`{"":{"b":1,"b":2}}`:        `[""].b`,
		`{"x.y":[0,{"b":1,"b":2}]}`: `["x.y"][1].b`,
		`01`:                        "$",
		`+1`:                        "$",
		`1.`:                        "$",
		`.5`:                        "$",
		`1e`:                        "$",
		`-`:                         "$",
		`[1e309]`:                   "[0]",
		`"\ud800"`:                  "$",
		`"\ud800\u0041"`:            "$",
		`"\udc00\ud800"`:            "$",
		`"\x41"`:                    "$",
		`"\u12g4"`:                  "$",
		`"\u12`:                     "$",
		`"open`:                     "$",
		`"\`:                        "$",
		"\"\xff\"":                  "$",
		"\"\xed\xa0\x80\"":          "$",
		"\"a\nb\"":                  "$",
		"\ufeff{}":                  "$",
	}
	for in, path := range cases {
		_, err := Canonicalize([]byte(in))
		wantRefusal(t, err, CodeInvalid, path)
		if canonicalEnd([]byte(in), 0, 0) == len(in) {
			t.Errorf("%q passed for canonical", in)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	nest := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := Canonicalize(nest(maxDepth)); err != nil {
		t.Errorf("%d levels: %v", maxDepth, err)
	}
	for _, spaces := range []string{"", " "} {
		if _, err := Canonicalize(append(nest(maxDepth+1), spaces...)); err == nil {
			t.Errorf("%d levels passed", maxDepth+1)
		}
	}
	if _, err := Canonicalize(bytes.Repeat([]byte("[{\"a\":"), 1<<20)); err == nil {
		t.Error("a million levels passed")
	}
}

func TestCanonicalOfGoValues(t *testing.T) {
	type inner struct {
		Z string `json:"z,omitempty"`
		A *int   `json:"a"`
	}
	cases := []struct {
		v    any
		want string
	}{
		{nil, `null`},
		{map[string]any{"b": []int{1}, "a": nil}, `{"a":null,"b":[1]}`},
		{inner{}, `{"a":null}`},
		{&inner{Z: "<&>"}, `{"a":null,"z":"<&>"}`},
		{TaskJudged{}, `{"criteria":[],"reason":"","step":"","task":"","verdict":""}`},
		{json.RawMessage(` { "b":1, "a":2 } `), `{"a":2,"b":1}`},
		{Time(0), `"1970-01-01T00:00:00.000Z"`},
		{struct {
			B []byte `json:"b"`
		}{[]byte("\xff")}, `{"b":"/w=="}`},
		{"broken \xff text", "\"broken \ufffd text\""},
		{int64(-maxInteger), "-9007199254740991"},
	}
	for _, c := range cases {
		if got, err := Canonical(c.v); err != nil || string(got) != c.want {
			t.Errorf("%#v is %s (%v), want %s", c.v, got, err, c.want)
		}
	}
	for _, v := range []any{int64(maxInteger + 1), uint64(1 << 60), func() {}, map[string]any{"c": make(chan int)}} {
		if got, err := Canonical(v); err == nil {
			t.Errorf("%T was written as %s", v, got)
		}
	}
	_, err := Canonical(AppendReply{Receipts: []Receipt{{}, {Seq: 1 << 60}}})
	wantRefusal(t, err, CodeInvalid, "receipts[1].seq")
}
