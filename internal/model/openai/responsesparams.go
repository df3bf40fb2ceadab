package openai

import (
	"cmp"
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"choiros/internal/model"
	"choiros/internal/model/dialect"
)

// responsesParams converts a request into the API's form.
func responsesParams(ask dialect.Ask) responses.ResponseNewParams {
	req := ask.Request
	out := responses.ResponseNewParams{
		Model:           req.Model,
		MaxOutputTokens: openai.Int(int64(req.MaxTokens)),
		Store:           openai.Bool(false),
		Input:           responses.ResponseNewParamsInputUnion{OfInputItemList: inputItems(req.Messages)},
		Include:         []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
	}
	if req.System != "" {
		out.Instructions = openai.String(req.System)
	}
	if req.Temperature != nil {
		out.Temperature = openai.Float(*req.Temperature)
	}
	if req.Effort != "" {
		out.Reasoning.Effort = shared.ReasoningEffort(cmp.Or(efforts[req.Effort], req.Effort))
	}
	if req.Thinks() {
		out.Reasoning.Summary = shared.ReasoningSummaryAuto
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, responses.ToolUnionParam{OfFunction: functionTool(t)})
	}
	switch req.ToolChoice {
	case "", "auto":
	case "any":
		out.ToolChoice.OfToolChoiceMode = openai.Opt(responses.ToolChoiceOptionsRequired)
	default:
		out.ToolChoice.OfFunctionTool = &responses.ToolChoiceFunctionParam{Name: req.ToolChoice}
	}
	return out
}

// functionTool converts a tool. It is not strict, since schemas need not be of the
// subset of JSON Schema that strict tools take.
func functionTool(d model.ToolDef) *responses.FunctionToolParam {
	out := param.Override[responses.FunctionToolParam](struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	}{"function", d.Name, d.Description, d.Schema, false})
	return &out
}

// inputItems converts the conversation into the API's items.
func inputItems(messages []model.Message) responses.ResponseInputParam {
	out := responses.ResponseInputParam{}
	for _, m := range messages {
		var said responses.ResponseInputMessageContentListParam // of the user
		for _, b := range m.Content {
			switch {
			case b.Kind == model.ToolCall:
				out = append(out, responses.ResponseInputItemParamOfFunctionCall(string(b.Input), b.CallID, b.Tool))
			case b.Kind == model.ToolResult:
				out = append(out, toolOutput(b))
			case b.Kind == model.Thinking:
				out = append(out, reasoningItem(b))
			case b.Kind == model.Picture:
				said = append(said, inputImage(b.Images[0]))
			case m.Role == model.Assistant:
				if b.Text != "" {
					out = append(out, responses.ResponseInputItemParamOfMessage(b.Text, responses.EasyInputMessageRoleAssistant))
				}
			default:
				said = append(said, responses.ResponseInputContentParamOfInputText(b.Text))
			}
		}
		if len(said) > 0 {
			out = append(out, responses.ResponseInputItemParamOfMessage(said, responses.EasyInputMessageRoleUser))
		}
	}
	return out
}

// reasoningItem returns the item of a thinking block.
func reasoningItem(b model.Block) responses.ResponseInputItemUnionParam {
	summary := []responses.ResponseReasoningItemSummaryParam{}
	if b.Text != "" {
		summary = append(summary, responses.ResponseReasoningItemSummaryParam{Text: b.Text})
	}
	item := responses.ResponseInputItemParamOfReasoning(b.Thought.ID, summary)
	if b.Thought.Sealed != "" {
		item.OfReasoning.EncryptedContent = openai.String(b.Thought.Sealed)
	}
	return item
}

// toolOutput returns the item of a tool's result.
func toolOutput(b model.Block) responses.ResponseInputItemUnionParam {
	text := b.Text
	if b.IsError {
		text = "error: " + text // the API has no mark for a tool that failed
	}
	out := &responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.String(b.CallID)}
	if len(b.Images) == 0 {
		out.Output.OfString = openai.String(text)
		return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: out}
	}
	list := responses.ResponseFunctionCallOutputItemListParam{{OfInputText: &responses.ResponseInputTextContentParam{Text: text}}}
	for _, i := range b.Images {
		list = append(list, responses.ResponseFunctionCallOutputItemUnionParam{OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: openai.String(dataURL(i))}})
	}
	out.Output.OfResponseFunctionCallOutputItemArray = list
	return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: out}
}

// inputImage returns the content part of an image.
func inputImage(i model.Image) responses.ResponseInputContentUnionParam {
	part := responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
	part.OfInputImage.ImageURL = openai.String(dataURL(i))
	return part
}

// dataURL returns an image as a URL that holds it.
func dataURL(i model.Image) string { return "data:" + i.MediaType + ";base64," + i.Data }
