package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strconv"
	"strings"
)

// A statusError is an answer other than 2xx.
type statusError struct {
	status  int
	message string
}

func (e statusError) Error() string { return e.message }

var (
	errNotFound = statusError{http.StatusNotFound, "not found"}
	errInternal = statusError{http.StatusInternalServerError, "internal error"}
)

// answer makes a handler that answers with JSON of that status, or with an error.
func answer(status int, handle func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var text []byte
		body, err := handle(r)
		if err == nil {
			text, err = toJSON(body)
		}
		if err != nil {
			sendError(w, r, err)
			return
		}
		if status == http.StatusNoContent {
			w.WriteHeader(status)
			return
		}
		send(w, status, "application/json", text)
	})
}

func sendNotFound(w http.ResponseWriter, r *http.Request) { sendError(w, r, errNotFound) }

// sendError tells a statusError; of any other error the cause goes to stderr only.
func sendError(w http.ResponseWriter, r *http.Request, err error) {
	said, ok := errors.AsType[statusError](err)
	if !ok {
		log.Printf("%s %s: %v", r.Method, r.RequestURI, err)
		said = errInternal
	}
	if said.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	send(w, said.status, "application/json", []byte(`{"error":`+quote(said.message)+"}"))
}

// send tells the length of an answer: net/http would chunk a long one.
func send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails where the client has gone
}

// toJSON is json.Marshal without its escapes for HTML, which the other servers do not make.
func toJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// quote writes a text as JSON, U+FFFD for what is not UTF-8 in it.
func quote(text string) string {
	quoted, _ := toJSON(strings.ToValidUTF8(text, "\ufffd")) // for texts it never fails
	return string(quoted)
}
