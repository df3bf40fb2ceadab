package modelgw

import (
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// effortOf returns the effort for a word of a provider's API: the nearest that package
// model has, and "" for none.
func effortOf(word string) string {
	switch word {
	case "minimal":
		return "low"
	case "xhigh":
		return "max"
	}
	return word
}

// effortOfBudget returns the effort for a number of tokens to think with, of those of
// the whole answer.
func effortOfBudget(budget, maxTokens int) string {
	share := float64(budget) / float64(max(1, maxTokens))
	switch {
	case share <= 0.3:
		return "low"
	case share <= 0.6:
		return "medium"
	case share <= 0.8:
		return "high"
	}
	return "max"
}

// imageOf returns the image in a data URL. Code invalid, with path: it is another URL,
// which the gateway does not fetch.
func imageOf(url, path string) (model.Image, error) {
	kind, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok || !strings.HasPrefix(url, "data:") {
		return model.Image{}, choir.Invalid(path, "must be a data: URL with base64, because this gateway fetches nothing")
	}
	return model.Image{MediaType: kind, Data: data}, nil
}

// picture returns the block of an image.
func picture(i model.Image) model.Block {
	return model.Block{Kind: model.Picture, Images: []model.Image{i}}
}
