package eventstore

// listed is a projection whose rows are written but never read by reducers.
type listed struct{ projection }

func (t *listed) in(v *view) part { return &listedRows{view: v, table: &t.projection} }

// of returns the rows of the projection in a view.
func (t *listed) of(v *view) *listedRows { return v.parts[&t.projection].(*listedRows) }

// listedRows adds rows to a listed projection; it caches none.
type listedRows struct {
	view  *view
	table *projection
}

// addJSON adds row r with the JSON of v as its value.
func (w *listedRows) addJSON(r row, v any) (err error) {
	if r.value, err = encode(v); err != nil {
		return err
	}
	w.view.add(w.table, r)
	return nil
}

func (w *listedRows) queueChanged() error { return nil }

func (w *listedRows) forget() {}

func (w *listedRows) size() int { return 0 }
