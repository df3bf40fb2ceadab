package modelgw

import "testing"

func TestPricesAreFoundByNameAndVersion(t *testing.T) {
	for name, want := range map[string]float64{
		"claude-sonnet-4-5":                           3,
		"claude-sonnet-4-5-20250929":                  3,
		"claude-sonnet-4-20250514":                    3,
		"eu.anthropic.claude-haiku-4-5-20251001-v1:0": 1,
		"anthropic.claude-opus-4-1-20250805-v1:0":     15,
		"gpt-4o-2024-08-06":                           2.5,
		"openai/gpt-4o-mini":                          0.15,
		"own-model":                                   7,
		"gpt-5-codex":                                 0,
		"claude-sonnet-4-9":                           0,
		"":                                            0,
	} {
		got, known := priceOf(map[string]Price{"own-model": {Input: 7}}, name)
		if got.Input != want || known != (want != 0) {
			t.Errorf("%s costs %v (known %t), want %v", name, got.Input, known, want)
		}
	}
}
