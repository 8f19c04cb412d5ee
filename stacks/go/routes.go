package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
)

// maxSize is the most rows that one request may ask for.
const maxSize = 500

//go:embed hi.html
var hiHTML string

var hi = template.Must(template.New("hi").Parse(hiHTML))

type greeting struct {
	Message string `json:"message"`
}

// routes returns the handler of all requests. The first request that needs the database opens it.
func routes(c config, p *people, open func() (database, error)) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", answer(http.StatusOK, func(*http.Request) (any, error) {
		return identity(c, p.sqliteVersion), nil
	}))
	mux.Handle("GET /plain", answer(http.StatusOK, func(*http.Request) (any, error) {
		return greeting{"Hello, world!"}, nil
	}))
	mux.HandleFunc("GET /html-template", renderHi)
	mux.Handle("GET /sqlite/random-5fields/{size}", answer(http.StatusOK, randomRows(p.person5)))
	mux.Handle("GET /sqlite/random-30fields/{size}", answer(http.StatusOK, randomRows(p.person30)))
	s := stored{open: open}
	if c.store == "postgres" {
		s.timeout = answerTimeout
		transferRoutes(mux, s, c.tx)
	}
	contentRoutes(mux, s)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { sendError(w, r, errNotFound) }) // any method
	return mux
}

func renderHi(w http.ResponseWriter, r *http.Request) {
	var page bytes.Buffer
	if err := hi.Execute(&page, struct{ Name string }{"Ben"}); err != nil {
		sendError(w, r, err)
		return
	}
	send(w, http.StatusOK, "text/html; charset=utf-8", page.Bytes())
}

func randomRows[T any](t *table[T]) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		size, err := integer("size", r.PathValue("size"), maxSize)
		if err != nil {
			return nil, err
		}
		return t.randomRows(size)
	}
}
