package modelgw

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Probed lists the abilities that a model showed in its answer to one question.
type Probed struct {
	Answer    model.Response
	Tools     bool // it called the tool
	Streaming bool // its answer came in pieces
	Images    bool // it named the colour of the image
	Thinking  bool // it told what it thought
}

// maxProbeTokens is the maximum length of the answer to Probe, thinking included.
const maxProbeTokens = 4096

// probeTool is the tool that Probe asks a model to call.
const probeTool = "report_colour"

// Probe asks a model one question whose answer shows what works: to look at an image, to
// think, and to call a tool with the image's colour. What the service refuses is left out
// as in any call. The cost counts for the computer and is recorded in its log under the
// caller owner. The errors are those of a model call.
func (g *Gateway) Probe(ctx context.Context, route Route, prices map[string]Price) (Probed, error) {
	picture, err := redSquare()
	if err != nil {
		return Probed{}, err
	}
	route.Fallbacks = nil
	req := model.Request{
		Model: route.Model, MaxTokens: maxProbeTokens, Effort: "medium", ToolChoice: probeTool,
		Tools: []model.ToolDef{{
			Name: probeTool, Description: "Takes the colour that you see.",
			Schema: json.RawMessage(`{"type":"object","properties":{"colour":{"type":"string","description":"One English word."}},"required":["colour"]}`),
		}},
		Messages: []model.Message{{Role: model.User, Content: []model.Block{
			picture, {Kind: model.Text, Text: "Which colour has this square? Call " + probeTool + " with it."},
		}}},
	}
	pieces := 0
	var p Probed
	p.Answer, err = g.try(ctx, trial{route, prices}, req, func(d model.Delta) {
		if d.Text != "" || d.Input != "" {
			pieces++
		}
	})
	p.Streaming = pieces > 1
	for _, b := range p.Answer.Content {
		p.Thinking = p.Thinking || b.Kind == model.Thinking
		p.Tools = p.Tools || b.Kind == model.ToolCall && b.Tool == probeTool && !b.IsError
		p.Images = p.Images || b.Kind != model.Thinking && strings.Contains(strings.ToLower(b.Text+string(b.Input)), "red")
	}
	return p, err
}

// redSquare returns a block with the image of a red square.
func redSquare() (model.Block, error) {
	square := image.NewRGBA(image.Rect(0, 0, 64, 64))
	draw.Draw(square, square.Bounds(), image.NewUniform(color.RGBA{R: 255, A: 255}), image.Point{}, draw.Src)
	var raw bytes.Buffer
	if err := png.Encode(&raw, square); err != nil {
		return model.Block{}, choir.Wrap("modelgw.probe", choir.CodeInternal, err, "draw an image")
	}
	return picture(model.Image{MediaType: "image/png", Data: base64.StdEncoding.EncodeToString(raw.Bytes())}), nil
}
