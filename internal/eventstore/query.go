package eventstore

import (
	"encoding/json"
	"fmt"
	"strconv"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// query runs a cached statement and calls row for each row.
func query(conn *sqlite.Conn, sql string, row func(*sqlite.Stmt) error, args ...any) error {
	st, err := conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer st.Reset() // an error of the last step has been told by Step
	for i, arg := range args {
		if err := bind(st, i+1, arg); err != nil {
			return err
		}
	}
	for {
		more, err := st.Step()
		if err != nil || !more {
			return err
		}
		if err := row(st); err != nil {
			return err
		}
	}
}

func bind(st *sqlite.Stmt, at int, arg any) error {
	switch v := arg.(type) {
	case string:
		st.BindText(at, v)
	case choir.ID:
		st.BindText(at, string(v))
	case uint64:
		st.BindInt64(at, int64(min(v, stillHolds)))
	case int:
		st.BindInt64(at, int64(v))
	default:
		return fmt.Errorf("bind %T", arg)
	}
	return nil
}

// into returns a row function that decodes the JSON in the first column into v.
func into[V any](v *V) func(*sqlite.Stmt) error {
	return func(st *sqlite.Stmt) error { return decodeText(st.ColumnText(0), v) }
}

// onto returns a row function that decodes the JSON in the first column and appends it
// to list.
func onto[V any](list *[]V) func(*sqlite.Stmt) error {
	return func(st *sqlite.Stmt) error {
		var v V
		*list = append(*list, v)
		return into(&(*list)[len(*list)-1])(st)
	}
}

// decodeText decodes the JSON of a row into v. Code corrupt: it is invalid JSON.
func decodeText(text string, v any) error {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return damagedCopy("eventstore.read", err)
	}
	return nil
}

func itoa(n int) string { return strconv.Itoa(n) }

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }
