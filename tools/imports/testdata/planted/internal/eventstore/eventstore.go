// Package eventstore is planted: it counts in Prometheus by itself.
package eventstore

import _ "github.com/prometheus/client_golang/prometheus"
