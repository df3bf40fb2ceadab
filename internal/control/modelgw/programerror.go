package modelgw

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// statusOverloaded is the HTTP status of a model service that is overloaded, which is in
// no standard.
const statusOverloaded = 529

// requestIDs are the headers in which the clients of the APIs look for the id of a
// request. It is that of the call in the log.
var requestIDs = []string{"Request-Id", "X-Request-Id"}

// messagesErrorTypes are the Messages API's names of errors by HTTP status. Any other is
// an api_error.
var messagesErrorTypes = map[int]string{
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusUnauthorized:          "authentication_error",
	http.StatusPaymentRequired:       "billing_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusGatewayTimeout:        "timeout_error",
	statusOverloaded:                 "overloaded_error",
}

// openaiCodes are the codes of OpenAI's APIs by the status of programStatus. Any other
// error has its code of ours.
var openaiCodes = map[int]string{
	http.StatusUnauthorized:          "invalid_api_key",
	http.StatusPaymentRequired:       "insufficient_quota",
	http.StatusRequestEntityTooLarge: "context_length_exceeded",
	http.StatusTooManyRequests:       "rate_limit_exceeded",
	statusOverloaded:                 "server_is_overloaded",
}

// programStatus returns the HTTP status of an error for a program, by which its client
// chooses the class of the error: the service's own where that says what to do, such as
// to wait.
func programStatus(err error) int {
	var service *model.ServiceError
	if errors.As(err, &service) {
		switch service.Status {
		case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
			return service.Status
		}
	}
	switch code := choir.CodeOf(err); code {
	case choir.CodeInvalid:
		return http.StatusBadRequest
	case choir.CodeOverloaded, choir.CodeBusy:
		return statusOverloaded
	default:
		return code.HTTPStatus()
	}
}

// openaiStatus returns the HTTP status with which OpenAI's APIs answer an error.
func openaiStatus(err error) int {
	var service *model.ServiceError
	switch status := programStatus(err); {
	case status == statusOverloaded:
		return http.StatusServiceUnavailable
	case status == http.StatusPaymentRequired:
		return http.StatusTooManyRequests
	case status == http.StatusRequestEntityTooLarge && errors.As(err, &service):
		return http.StatusBadRequest
	default:
		return status
	}
}

// openaiCode returns the code of an error in OpenAI's APIs.
func openaiCode(err error) string {
	status := programStatus(err)
	if code, ok := openaiCodes[status]; ok {
		return code
	}
	var service *model.ServiceError
	if status == http.StatusNotFound && errors.As(err, &service) {
		return "model_not_found"
	}
	return string(model.FailureOf(err).Code)
}

// writeProgramError answers a program with an error in its API's form, and with the wait
// that the service asks for.
func writeProgramError(w http.ResponseWriter, status int, err error, body any) {
	var service *model.ServiceError
	if errors.As(err, &service) && service.After > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(service.After.Seconds()))))
	}
	writeJSON(w, status, body)
}

// writePathError answers a request for what is not there, in the form of the API whose
// client asks.
func writePathError(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/anthropic/") || r.Header.Get("Anthropic-Version") != "":
		writeMessagesError(w, err)
	case strings.HasPrefix(r.URL.Path, "/openai/") || strings.HasPrefix(r.URL.Path, "/v1/"):
		writeCompletionsError(w, err)
	default:
		writeFailure(w, err)
	}
}
