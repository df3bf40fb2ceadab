package modelgw

import "choiros/internal/model"

// ParseMessages and ParseCompletions open the translations to the fuzz target.
func ParseMessages(raw []byte) (model.Request, error) {
	req, _, err := parseMessages(raw)
	return req, err
}

func ParseCompletions(raw []byte) (model.Request, error) {
	req, _, err := parseCompletions(raw)
	return req, err
}
