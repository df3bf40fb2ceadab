package choir

import (
	"encoding/json"
	"time"
)

// Time is a moment in Unix milliseconds. On the wire it is RFC 3339 in UTC with
// exactly three decimals: 2026-11-21T02:28:00.000Z.
type Time int64

const (
	timeLayout = "2006-01-02T15:04:05.000Z"
	minTime    = Time(-62167219200000) // 0000-01-01
	maxTime    = Time(253402300799999) // 9999-12-31T23:59:59.999
)

// TimeOf converts a time.Time, dropping everything below the millisecond.
func TimeOf(t time.Time) Time { return Time(t.UnixMilli()) }

// Std converts the time to a time.Time in UTC.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

func (t Time) String() string { return t.Std().Format(timeLayout) }

// MarshalJSON writes the time in the wire form. A time before year 0 or after year 9999
// is an error.
func (t Time) MarshalJSON() ([]byte, error) { return appendTime(nil, t) }

// UnmarshalJSON reads a time in the wire form. Any other form is code invalid.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return Invalid("$", "must be a time, not %s", clip(string(b)))
	}
	parsed, err := ParseTime(s)
	if err == nil {
		*t = parsed
	}
	return err
}

// ParseTime parses a time in the wire form. Any other form is code invalid.
func ParseTime(s string) (Time, error) {
	if len(s) == len(timeLayout) {
		std := time.Date(number(s[:4]), time.Month(number(s[5:7])), number(s[8:10]),
			number(s[11:13]), number(s[14:16]), number(s[17:19]), number(s[20:23])*1e6, time.UTC)
		var buf [len(timeLayout) + 2]byte
		// A date that does not exist, or a letter in it, comes back as another.
		if text, err := appendTime(buf[:0], TimeOf(std)); err == nil && string(text[1:len(text)-1]) == s {
			return TimeOf(std), nil
		}
	}
	return 0, RefuseField("$", ReasonFieldTime, TextOf("given", clip(s)))
}

// number converts decimal digits to an integer. It checks neither that they are digits
// nor that the result fits.
func number[S string | []byte](s S) int {
	n := 0
	for i := 0; i < len(s); i++ {
		n = 10*n + int(s[i]) - '0'
	}
	return n
}

// appendTime appends the time in the wire form, in quotes, to out and returns the result.
// A time before year 0 or after year 9999 is an error.
func appendTime(out []byte, t Time) ([]byte, error) {
	if t < minTime || t > maxTime {
		return nil, Invalid("$", "%d ms is a moment before year 0 or after year 9999", int64(t))
	}
	std := t.Std()
	year, month, day := std.Date()
	hour, minute, second := std.Clock()
	out = appendDigits(append(out, '"'), year, 4, '-')
	out = appendDigits(out, int(month), 2, '-')
	out = appendDigits(out, day, 2, 'T')
	out = appendDigits(out, hour, 2, ':')
	out = appendDigits(out, minute, 2, ':')
	out = appendDigits(out, second, 2, '.')
	out = appendDigits(out, std.Nanosecond()/1e6, 3, 'Z')
	return append(out, '"'), nil
}

func appendDigits(out []byte, n, width int, after byte) []byte {
	var buf [5]byte
	buf[width] = after
	for i := width - 1; i >= 0; i-- {
		buf[i] = byte('0' + n%10)
		n /= 10
	}
	return append(out, buf[:width+1]...)
}
