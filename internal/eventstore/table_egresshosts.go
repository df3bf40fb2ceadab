package eventstore

import (
	"context"
	"net"
	"slices"
	"strconv"

	"choiros/internal/choir"
)

// egressHostsTable has a row for each host and port that a computer's programs reached, and one with
// an empty key for the hosts that found no room.
var egressHostsTable = &keyed[EgressHost]{projection: projection{
	name: "egress_hosts", since: 12, key: 1, columns: []column{keyColumn, valueColumn},
	on: reducers{choir.TypeEgressPassed: on(egressPassed)},
}}

// maxEgressHosts is the number of hosts and ports that have a row of their own. A rule for all names
// below one lets programs choose the names.
const maxEgressHosts = 500

// EgressHost counts the requests and tunnels to one host and port, and their bytes.
type EgressHost struct {
	Host     string     `json:"host"` // empty for all hosts without a row of their own
	Port     int        `json:"port"`
	Requests int64      `json:"requests"`
	Sent     int64      `json:"sent"`     // bytes
	Received int64      `json:"received"` // bytes
	Last     choir.Time `json:"last"`
	// Known is the number of hosts that have a row; in the row without a host only.
	Known int `json:"known,omitempty"`
}

// egressPassed counts a request or tunnel that has ended.
func egressPassed(rows *cells[EgressHost], e *choir.Event, p *choir.EgressPassed) error {
	key := choir.ID(net.JoinHostPort(p.Host, strconv.Itoa(p.Port)))
	one := EgressHost{Host: p.Host, Port: p.Port}
	if _, known, err := rows.get(key); err != nil {
		return err
	} else if !known {
		others, err := rows.edit("")
		if err != nil {
			return err
		}
		if others.Known < maxEgressHosts {
			others.Known++
		} else {
			key, one = "", EgressHost{}
		}
	}
	row, err := rows.edit(key)
	if err != nil {
		return err
	}
	row.Host, row.Port = one.Host, one.Port
	row.Requests++
	row.Sent += p.Sent
	row.Received += p.Received
	row.Last = e.Time
	return nil
}

// EgressHosts returns the hosts that programs reached, the newest first, and last all those without
// a row of their own together, if there are any. A host with which not a byte was exchanged, because
// it has no address, did not answer or was refused what it was to be sent, was not reached.
func (t *Tables) EgressHosts(ctx context.Context) ([]EgressHost, error) {
	rows, err := list[EgressHost](ctx, t, "SELECT value FROM egress_hosts")
	rows = slices.DeleteFunc(rows, func(h EgressHost) bool { return h.Sent+h.Received == 0 })
	slices.SortFunc(rows, func(a, b EgressHost) int {
		switch {
		case (a.Host == "") != (b.Host == ""):
			return map[bool]int{true: 1, false: -1}[a.Host == ""]
		case a.Last != b.Last:
			return map[bool]int{true: -1, false: 1}[a.Last > b.Last]
		}
		return slices.Compare([]byte(a.Host+strconv.Itoa(a.Port)), []byte(b.Host+strconv.Itoa(b.Port)))
	})
	return rows, err
}
