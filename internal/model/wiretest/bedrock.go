package wiretest

import (
	"bytes"
	"encoding/base64"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"
)

// eventStream returns each event as a frame of Bedrock's binary event stream, a chunk
// with the base64 of the event's JSON.
func eventStream(events []event) [][]byte {
	out := make([][]byte, 0, len(events))
	for _, e := range events {
		payload := jsonf(`{"bytes":%q,"p":"abcd"}`, base64.StdEncoding.EncodeToString(e.data))
		out = append(out, eventFrame("chunk", payload))
	}
	return out
}

func eventFrame(name string, payload []byte) []byte {
	msg := eventstream.Message{Payload: payload}
	msg.Headers.Set(eventstreamapi.EventTypeHeader, eventstream.StringValue(name))
	msg.Headers.Set(eventstreamapi.ContentTypeHeader, eventstream.StringValue("application/json"))
	msg.Headers.Set(eventstreamapi.MessageTypeHeader, eventstream.StringValue(eventstreamapi.EventMessageType))
	return encodeFrame(msg)
}

// exceptionFrame returns the frame of an error within a Bedrock stream.
func exceptionFrame(name, message string) []byte {
	msg := eventstream.Message{Payload: jsonf(`{"message":%s}`, quote(message))}
	msg.Headers.Set(eventstreamapi.ExceptionTypeHeader, eventstream.StringValue(name))
	msg.Headers.Set(eventstreamapi.ContentTypeHeader, eventstream.StringValue("application/json"))
	msg.Headers.Set(eventstreamapi.MessageTypeHeader, eventstream.StringValue(eventstreamapi.ExceptionMessageType))
	return encodeFrame(msg)
}

func encodeFrame(msg eventstream.Message) []byte {
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, msg); err != nil {
		panic(err) // only headers over 64 KiB cannot be encoded, and these are constants
	}
	return b.Bytes()
}
