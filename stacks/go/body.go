package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"unicode/utf8"
)

// bodyBytes is the longest body of a request that is read.
const bodyBytes = 102_400

var (
	errNotJSON  = statusError{http.StatusBadRequest, "the body is not valid JSON"}
	errTooLarge = statusError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", bodyBytes)}
	errNotTyped = statusError{
		http.StatusUnsupportedMediaType,
		"the body must be of content-type application/json in UTF-8, not compressed",
	}
)

// jsonType has no charset that some would decode, and others take for UTF-8.
var jsonType = regexp.MustCompile(`(?i)^application/json\s*(;\s*charset="?utf-8"?\s*)?$`)

// readBody returns what the JSON of a request says, as a parser has it.
func readBody(r *http.Request) (any, error) {
	if !jsonType.MatchString(r.Header.Get("Content-Type")) || r.Header.Get("Content-Encoding") != "" {
		return nil, errNotTyped
	}
	if r.ContentLength > bodyBytes {
		return nil, errTooLarge
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, bodyBytes+1)) // what is beyond is let past, so that the answer is read
	if err != nil {
		return nil, errNotJSON
	}
	if len(text) > bodyBytes {
		return nil, errTooLarge
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		text = []byte(string([]rune(string(text)))) // U+FFFD for each byte that is not UTF-8
	}
	if !json.Valid(text) {
		return nil, errNotJSON
	}
	return (&parser{text: text}).value(), nil
}
