package main

import (
	_ "embed"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

const (
	maxLimit     = 100 // items in a page of GET /content
	defaultLimit = "20"
	maxUsers     = 100 // of GET /users
)

// Made by openapi.ts, which build.sh calls.
var (
	//go:embed build/openapi.json
	openAPI []byte
	//go:embed build/docs.html
	docs []byte
	//go:embed build/openapi-postgres.json
	postgresOpenAPI []byte
	//go:embed build/docs-postgres.html
	postgresDocs []byte
)

// A page is an answer to GET /content; next is null where there is no further one.
type page struct {
	Items []content `json:"items"`
	Next  *string   `json:"next"`
}

// contentRoutes mounts the content API.
func contentRoutes(mux *http.ServeMux, stores *storeOpener) {
	mux.Handle("POST /content", answer(http.StatusCreated, stores.usingBody(createContent)))
	mux.Handle("GET /content", answer(http.StatusOK, stores.using(listContents)))
	mux.Handle("GET /content/{id}", answer(http.StatusOK, stores.using(readContent)))
	mux.Handle("PUT /content/{id}", answer(http.StatusOK, stores.usingBody(updateContent)))
	mux.Handle("DELETE /content/{id}", answer(http.StatusNoContent, stores.using(removeContent)))
	mux.Handle("GET /users", answer(http.StatusOK, stores.using(listUsers)))
	mux.Handle("POST /users", answer(http.StatusCreated, stores.usingBody(addUser)))
}

// describe mounts the description of the endpoints.
func describe(mux *http.ServeMux, openAPI, docs []byte) {
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, "application/json", openAPI)
	})
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusOK, "text/html; charset=utf-8", docs)
	})
}

func createContent(s *store, _ *http.Request, body any) (any, error) {
	c, err := contentOf(body, newContent)
	if err != nil {
		return nil, err
	}
	if c.ID == "" {
		c.ID = ulid.Make().String()
	}
	c.CreatedAt = now()
	c.UpdatedAt = c.CreatedAt
	return c, s.create(c)
}

func readContent(s *store, r *http.Request) (any, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	return s.read(id)
}

func updateContent(s *store, r *http.Request, body any) (any, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	c, err := contentOf(body, draft)
	if err != nil {
		return nil, err
	}
	c.ID, c.UpdatedAt = id, now()
	return s.update(c)
}

func removeContent(s *store, r *http.Request) (any, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	return nil, s.remove(id)
}

func listContents(s *store, r *http.Request) (any, error) {
	limit, err := integer("limit", parameter(r, "limit", defaultLimit), 1, maxLimit)
	if err != nil {
		return nil, err
	}
	after := parameter(r, "after", "")
	if after != "" && !ulidPattern.MatchString(after) {
		return nil, statusError{http.StatusBadRequest, "after must be a ULID, not " + quote(after)}
	}
	items, err := s.list(after, limit+1) // one more than asked for tells whether there is a next page
	if err != nil || len(items) <= limit {
		return page{Items: items}, err
	}
	return page{Items: items[:limit], Next: &items[limit-1].ID}, nil
}

func listUsers(s *store, _ *http.Request) (any, error) { return s.users(maxUsers) }

func addUser(s *store, _ *http.Request, body any) (any, error) {
	u, err := userOf(body)
	if err != nil {
		return nil, err
	}
	return s.addUser(u)
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

func idOf(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if !ulidPattern.MatchString(id) {
		return "", statusError{http.StatusBadRequest, "id must be a ULID, not " + quote(id)}
	}
	return id, nil
}

// parameter returns the first value of a parameter of the query. As browsers do, and net/url does not, it lets stand what is
// no escape.
func parameter(r *http.Request, name, otherwise string) string {
	for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if key, value, _ := strings.Cut(pair, "="); decode(key) == name {
			return decode(value)
		}
	}
	return otherwise
}

var escaped = regexp.MustCompile("%[0-9A-Fa-f]{2}")

func decode(text string) string {
	return escaped.ReplaceAllStringFunc(strings.ReplaceAll(text, "+", " "), func(code string) string {
		character, _ := hex.DecodeString(code[1:])
		return string(character)
	})
}
