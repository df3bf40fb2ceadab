package taskrunner

import "choiros/internal/choir"

// suggestions has, by the code of a failed task, what the Director may do next. Codes
// whose remedy depends on the task have none.
var suggestions = map[choir.ResultCode]string{
	choir.ResultTimeBudget:    "Dispatch it again with a higher time_budget_s, or divide it into smaller tasks.",
	choir.ResultTokenBudget:   "Dispatch it again with a higher token_budget, or divide it into smaller tasks.",
	choir.ResultLimit:         "Divide it into smaller tasks, or say more exactly how it is to be done.",
	choir.ResultToolRefused:   "Name the tool in allowed_tools, or ask for a way that does without it.",
	choir.ResultEgressRefused: "Ask for a way without the network: what the task needs has to be in the workspace.",
	choir.ResultDiskFull:      "Ask the user to free space on the disk, then dispatch it again.",
	choir.ResultConflict:      "Look at the paths in conflicts, then dispatch it again: it begins with the project as it is now.",
	choir.ResultStaleBase:     "Look at what changed meanwhile, then dispatch it again.",
}

// suggest returns the suggestion for a code, nil if there is none.
func suggest(code choir.ResultCode) *string {
	text, ok := suggestions[code]
	if !ok {
		return nil
	}
	return &text
}
