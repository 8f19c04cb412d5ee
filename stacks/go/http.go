package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net/http"
	"strconv"
	"unicode/utf8"
)

// bodyBytes is the length of the longest request body that is accepted.
const bodyBytes = 102_400

// answer makes a handler that sends the result of handle as JSON, or its error.
func answer(status int, handle func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var text []byte
		body, err := handle(r)
		if err == nil && status != http.StatusNoContent {
			text, err = json.Marshal(body)
		}
		switch {
		case err != nil:
			sendError(w, r, err)
		case status == http.StatusNoContent:
			w.WriteHeader(status)
		default:
			send(w, status, "application/json", text)
		}
	})
}

// sendError logs the cause of a 500, because the client does not get it.
func sendError(w http.ResponseWriter, r *http.Request, err error) {
	e := httpErrorOf(err)
	if e == errInternal {
		log.Printf("%s %s: %v", r.Method, r.RequestURI, err)
	}
	if e.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	text, _ := json.Marshal(map[string]string{"error": e.message}) // cannot fail
	send(w, e.status, "application/json", text)
}

// send sets Content-Length, because net/http would send a long body in chunks.
func send(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // fails if the client has disconnected
}

// readJSON reads the body of a request into a struct. It refuses fields that the struct does not have.
func readJSON(r *http.Request, into any) error {
	if mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); mediaType != "application/json" {
		return httpError{http.StatusUnsupportedMediaType, "the body must be application/json"}
	}
	text, err := io.ReadAll(r.Body)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return httpError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", bodyBytes)}
	}
	if err != nil || !utf8.Valid(text) || !json.Valid(text) {
		return httpError{http.StatusBadRequest, "the body is not valid JSON"}
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return invalid("%v", err)
	}
	return nil
}

// integer parses an integer from 1 to most.
func integer(name, text string, most int) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > most {
		message := fmt.Sprintf("%s must be an integer from 1 to %d, not %q", name, most, text)
		return 0, httpError{http.StatusBadRequest, message}
	}
	return value, nil
}
