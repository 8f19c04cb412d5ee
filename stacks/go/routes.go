package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"path"
	"strconv"
)

//go:embed hi.html
var hiHTML string

var hi = template.Must(template.New("hi").Parse(hiHTML))

type greeting struct {
	Message string `json:"message"`
}

// routes is the handler of all requests.
func routes(c config, p *people, stores *storeOpener, identity func() identity) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", answer(http.StatusOK, func(*http.Request) (any, error) { return identity(), nil }))
	mux.Handle("GET /plain", answer(http.StatusOK, func(*http.Request) (any, error) {
		return greeting{"Hello, world!"}, nil
	}))
	mux.HandleFunc("GET /html-template", renderHi)
	mux.Handle("GET /sqlite/random-5fields/{size}", answer(http.StatusOK, randomRows(p.person5)))
	mux.Handle("GET /sqlite/random-30fields/{size}", answer(http.StatusOK, randomRows(p.person30)))
	contentRoutes(mux, stores)
	if c.store == "postgres" {
		transactionRoutes(mux, stores, c.postgres.tx)
		describe(mux, postgresOpenAPI, postgresDocs)
	} else {
		describe(mux, openAPI, docs)
	}
	mux.HandleFunc("/", sendNotFound) // also for other methods, which would be a 405
	return asOthers(mux)
}

func renderHi(w http.ResponseWriter, r *http.Request) {
	var page bytes.Buffer
	if err := hi.Execute(&page, struct{ Name string }{"Ben"}); err != nil {
		sendError(w, r, err)
		return
	}
	send(w, http.StatusOK, "text/html; charset=utf-8", page.Bytes())
}

func randomRows(t *table) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		size, err := integer("size", r.PathValue("size"), 1, maxSize)
		if err != nil {
			return nil, err
		}
		return t.randomRows(size)
	}
}

// integer reads one from least to most as it is usually written.
func integer(name, text string, least, most int) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < least || value > most || strconv.Itoa(value) != text {
		return 0, statusError{400, fmt.Sprintf("%s must be an integer from %d to %d, not %s", name, least, most, quote(text))}
	}
	return value, nil
}

// asOthers makes net/http answer odd requests as the other servers do: those of a path that ServeMux would clean and redirect
// to, which no route has, and those whose body has not come yet, before it comes.
func asOthers(mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "" {
			r.URL.Path = "/" // of http://host
		}
		next := mux
		if !isClean(r.URL.EscapedPath()) {
			next = http.HandlerFunc(sendNotFound)
		}
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		controller := http.NewResponseController(w)
		_ = controller.EnableFullDuplex() // else net/http sends nothing before it has read all
		next.ServeHTTP(w, r)
		_ = controller.Flush()
		if _, err := io.Copy(io.Discard, r.Body); err != nil { // for at most requestTimeout
			panic(http.ErrAbortHandler) // closes the connection: what follows is no request
		}
	})
}

// isClean tells whether a path has no empty segments and dots.
func isClean(asked string) bool {
	clean := path.Clean("/" + asked)
	return asked == clean || asked == clean+"/" && clean != "/"
}
