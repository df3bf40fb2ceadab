package api

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// Place is an address that lets a browser into a desktop or a preview, once and within
// seconds.
type Place struct {
	URL string `json:"url" doc:"Address with a ticket that works once."`
}

// PreviewRequest names the port to preview.
type PreviewRequest struct {
	Port int `json:"port" minimum:"1" maximum:"65535" doc:"TCP port inside the sandbox."`
}

// places adds to the OpenAPI document the operations that the gateway serves itself:
// tickets for desktops and previews.
func places(h huma.API) {
	doc := h.OpenAPI()
	describe := func(id, path, summary string, body *huma.RequestBody, query ...*huma.Param) {
		doc.AddOperation(&huma.Operation{
			OperationID: id, Method: http.MethodPost, Path: path, Summary: summary, RequestBody: body,
			Parameters: append([]*huma.Param{{Name: "computer", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString, Format: "uuid"}}}, query...),
			Responses: map[string]*huma.Response{
				strconv.Itoa(http.StatusCreated): {Description: "A ticket.", Content: jsonOf(doc, reflect.TypeFor[Place]())},
				"default":                        {Description: "A problem.", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: doc.Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")}}},
			},
		})
	}
	describe("newTicket", "/api/computers/{computer}/ticket", "Let this browser into a computer's desktop (from the shell's origin)", nil,
		&huma.Param{Name: "past", In: "query", Description: "Into the desktop as it was, which changes nothing.", Schema: &huma.Schema{Type: huma.TypeBoolean}})
	describe("newPreview", "/api/computers/{computer}/previews", "Let this browser see what listens on a port of a computer (from its desktop's origin)",
		&huma.RequestBody{Required: true, Content: jsonOf(doc, reflect.TypeFor[PreviewRequest]())})
}
