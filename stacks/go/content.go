package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

const (
	maxLimit     = 100 // items in a page of GET /content
	defaultLimit = 20
	maxUsers     = 100 // users in the answer to GET /users
)

// A draft is the part of a content that the client sends.
type draft struct {
	Title  string          `json:"title"`
	Body   string          `json:"body"`
	Author string          `json:"author"`
	Status string          `json:"status"`
	Data   json.RawMessage `json:"data"` // any JSON, stored as text
}

type newContent struct {
	ID string `json:"id"`
	draft
}

// A content is one item, as stored and as answered. Times are ISO 8601 in UTC.
type content struct {
	newContent
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

func (c *content) fields() []any {
	data := (*[]byte)(&c.Data)
	return []any{&c.ID, &c.Title, &c.Body, &c.Author, &c.Status, data, &c.CreatedAt, &c.UpdatedAt}
}

type newUser struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

type user struct {
	ID int64 `json:"id"`
	newUser
}

func (u *user) fields() []any { return []any{&u.ID, &u.Name, &u.Email} }

// A page is an answer to GET /content; Next is nil on the last page.
type page struct {
	Items []content `json:"items"`
	Next  *string   `json:"next"`
}

func contentRoutes(mux *http.ServeMux, s stored) {
	mux.Handle("POST /content", s.answer(http.StatusCreated, createContent))
	mux.Handle("GET /content", s.answer(http.StatusOK, listContents))
	mux.Handle("GET /content/{id}", s.answer(http.StatusOK, withID(readContent)))
	mux.Handle("PUT /content/{id}", s.answer(http.StatusOK, withID(updateContent)))
	mux.Handle("DELETE /content/{id}", s.answer(http.StatusNoContent, withID(removeContent)))
	mux.Handle("GET /users", s.answer(http.StatusOK, listUsers))
	mux.Handle("POST /users", s.answer(http.StatusCreated, addUser))
}

func createContent(ctx context.Context, db database, r *http.Request) (any, error) {
	c := content{newContent: newContent{ulid.Make().String(), defaultDraft()}, CreatedAt: now()}
	if err := readJSON(r, &c.newContent); err != nil {
		return nil, err
	}
	if !ulidPattern.MatchString(c.ID) {
		return nil, invalid("id must be a ULID")
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.UpdatedAt = c.CreatedAt
	_, err := db.exec(ctx, "INSERT INTO content VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
		c.ID, c.Title, c.Body, c.Author, c.Status, string(c.Data), c.CreatedAt, c.UpdatedAt)
	return c, err
}

// withID checks the id in the path.
func withID(handle func(context.Context, database, *http.Request, string) (any, error)) storedHandler {
	return func(ctx context.Context, db database, r *http.Request) (any, error) {
		id := r.PathValue("id")
		if err := checkULID("id", id); err != nil {
			return nil, err
		}
		return handle(ctx, db, r, id)
	}
}

func readContent(ctx context.Context, db database, _ *http.Request, id string) (any, error) {
	return queryOne(ctx, db, (*content).fields, "SELECT * FROM content WHERE id = $1", id)
}

func updateContent(ctx context.Context, db database, r *http.Request, id string) (any, error) {
	d := defaultDraft()
	if err := readJSON(r, &d); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	return queryOne(ctx, db, (*content).fields, `UPDATE content
		SET title = $1, body = $2, author = $3, status = $4, data = $5, updated_at = $6 WHERE id = $7 RETURNING *`,
		d.Title, d.Body, d.Author, d.Status, string(d.Data), now(), id)
}

func removeContent(ctx context.Context, db database, _ *http.Request, id string) (any, error) {
	changed, err := db.exec(ctx, "DELETE FROM content WHERE id = $1", id)
	if err == nil && changed == 0 {
		return nil, errNotFound
	}
	return nil, err
}

func listContents(ctx context.Context, db database, r *http.Request) (any, error) {
	query, limit, err := r.URL.Query(), defaultLimit, error(nil)
	if query.Has("limit") {
		if limit, err = integer("limit", query.Get("limit"), maxLimit); err != nil {
			return nil, err
		}
	}
	after := query.Get("after")
	if after != "" {
		if err := checkULID("after", after); err != nil {
			return nil, err
		}
	}
	items, err := queryAll(ctx, db, (*content).fields,
		"SELECT * FROM content WHERE id > $1 ORDER BY id LIMIT $2", after, limit+1) // one more than the limit, to know if there is a next page
	if err != nil || len(items) <= limit {
		return page{Items: items}, err
	}
	return page{items[:limit], &items[limit-1].ID}, nil
}

func listUsers(ctx context.Context, db database, _ *http.Request) (any, error) {
	return queryAll(ctx, db, (*user).fields, `SELECT id, name, email FROM "user" ORDER BY id LIMIT $1`, maxUsers)
}

func addUser(ctx context.Context, db database, r *http.Request) (any, error) {
	var u newUser
	if err := readJSON(r, &u); err != nil {
		return nil, err
	}
	if !isText(u.Name, 200) || !isText(u.Email, 200) {
		return nil, invalid("name and email must have 1 to 200 characters")
	}
	return queryOne(ctx, db, (*user).fields,
		`INSERT INTO "user" (name, email) VALUES ($1, $2) RETURNING id, name, email`, u.Name, u.Email)
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

var ulidPattern = regexp.MustCompile("^[0-7][0-9A-HJKMNP-TV-Z]{25}$")

func checkULID(name, text string) error {
	if ulidPattern.MatchString(text) {
		return nil
	}
	return httpError{http.StatusBadRequest, fmt.Sprintf("%s must be a ULID, not %q", name, text)}
}

// defaultDraft has the values of fields that the client does not send.
func defaultDraft() draft { return draft{Status: "draft", Data: json.RawMessage("null")} }

func (d draft) check() error {
	switch {
	case !isText(d.Title, 200), !isText(d.Author, 200):
		return invalid("title and author must have 1 to 200 characters")
	case !isText(d.Body, 50_000):
		return invalid("body must have 1 to 50000 characters")
	case !slices.Contains([]string{"draft", "published", "archived"}, d.Status):
		return invalid("status must be draft, published or archived")
	}
	return nil
}

// isText refuses U+0000, because Postgres cannot store it.
func isText(text string, most int) bool {
	length := utf8.RuneCountInString(text)
	return length >= 1 && length <= most && !strings.Contains(text, "\x00")
}
