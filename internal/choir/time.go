package choir

import (
	"encoding/json"
	"fmt"
	"time"
)

// Time is a moment in Unix milliseconds. On the wire it is RFC 3339 in UTC with
// exactly three decimals: 2026-11-21T02:28:00.000Z.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf drops everything below the millisecond.
func TimeOf(t time.Time) Time { return Time(t.UnixMilli()) }

// Std is the same moment as a time.Time in UTC.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

func (t Time) String() string { return t.Std().Format(timeLayout) }

// MarshalJSON writes the wire form.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads the wire form and refuses every other.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a time is a string: %w", err)
	}
	parsed, err := ParseTime(s)
	*t = parsed
	return err
}

// ParseTime reads the wire form and refuses every other.
func ParseTime(s string) (Time, error) {
	p, err := time.Parse(timeLayout, s)
	if err != nil || p.Format(timeLayout) != s {
		return 0, fmt.Errorf("%q is not a time like 2026-11-21T02:28:00.000Z", s)
	}
	return TimeOf(p), nil
}
