package eventstore

import (
	"unicode/utf8"

	"choiros/internal/choir"
)

// conversationsTable stores the conversations by run.
var conversationsTable = &keyed[Conversation]{
	projection: projection{
		name: "conversations", since: 1, key: 1, columns: []column{keyColumn, seqColumn, valueColumn},
		indexes: []string{"conversations_by_seq ON conversations (seq)"},
		on:      reducers{choir.TypePromptSubmitted: on(conversationBegan)},
	},
	index: func(x *Conversation) row { return row{seq: x.FirstSeq} },
}

// titleRunes is the length in runes to which a prompt is cut as the title of its
// conversation.
const titleRunes = 120

func conversationBegan(conversations *cells[Conversation], e *choir.Event, p *choir.PromptSubmitted) error {
	if _, known, err := conversations.get(e.Run); err != nil || known {
		return err
	}
	conversations.put(e.Run, Conversation{ID: e.Run, Title: firstRunes(p.Text, titleRunes), FirstSeq: e.Seq, At: e.Time})
	return nil
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		if _, size := utf8.DecodeRuneInString(s[i:]); size > 0 {
			n--
		}
	}
	return s
}
