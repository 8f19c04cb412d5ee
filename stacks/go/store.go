package main

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"sync"
)

// What a database says of a statement that fails.
var (
	errConflict    = errors.New("there is one of this id already")
	errFull        = statusError{http.StatusInsufficientStorage, "the store is full"}
	errUnavailable = statusError{http.StatusServiceUnavailable, "the store cannot be reached"}
)

// statements are those of all databases; ? stands for a parameter, data is JSON text.
var statements = map[string]string{
	"create": "INSERT INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	"read":   "SELECT * FROM content WHERE id = ?",
	"update": `UPDATE content SET title = ?, body = ?, author = ?, status = ?, data = ?, updated_at = ? WHERE id = ?
		RETURNING *`,
	"remove":  "DELETE FROM content WHERE id = ?",
	"list":    "SELECT * FROM content WHERE id > ? ORDER BY id LIMIT ?",
	"users":   `SELECT id, name, email FROM "user" ORDER BY id LIMIT ?`,
	"addUser": `INSERT INTO "user" (name, email) VALUES (?, ?) RETURNING id, name, email`,
}

// A row of an answer, as database/sql and pgx have it.
type row interface{ Scan(into ...any) error }

// A session runs statements by their names. It fails with the errors above where they fit.
type session interface {
	exec(statement string, values ...any) (changed int64, err error)
	// query calls each with every row.
	query(statement string, each func(row) error, values ...any) error
}

// A database runs each statement for itself.
type database interface {
	session
	close()
}

// A store is where content items and users are kept. Its errors are answers.
type store struct{ database }

func (s *store) create(c content) error {
	_, err := s.exec("create", c.ID, c.Title, c.Body, c.Author, c.Status, string(c.Data), c.CreatedAt, c.UpdatedAt)
	if errors.Is(err, errConflict) {
		return statusError{http.StatusConflict, fmt.Sprintf("there is a content %s already", c.ID)}
	}
	return err
}

func (s *store) read(id string) (content, error) {
	return only(queryAll(s, "read", (*content).columns, id))
}

// update replaces what a client says of a content, and returns it as it is then.
func (s *store) update(c content) (content, error) {
	values := []any{c.Title, c.Body, c.Author, c.Status, string(c.Data), c.UpdatedAt, c.ID}
	return only(queryAll(s, "update", (*content).columns, values...))
}

func (s *store) remove(id string) error {
	changed, err := s.exec("remove", id)
	if err == nil && changed == 0 {
		return errNotFound
	}
	return err
}

// list returns the first content items by id whose id is greater than after.
func (s *store) list(after string, limit int) ([]content, error) {
	return queryAll(s, "list", (*content).columns, after, limit)
}

func (s *store) users(limit int) ([]user, error) {
	return queryAll(s, "users", (*user).columns, limit)
}

func (s *store) addUser(u user) (user, error) {
	return only(queryAll(s, "addUser", (*user).columns, u.Name, u.Email))
}

func (c *content) columns() []any {
	return []any{&c.ID, &c.Title, &c.Body, &c.Author, &c.Status, &c.Data, &c.CreatedAt, &c.UpdatedAt}
}

func (u *user) columns() []any { return []any{&u.ID, &u.Name, &u.Email} }

// queryAll returns every row; columns are the fields that one is scanned into.
func queryAll[T any](s *store, statement string, columns func(*T) []any, values ...any) ([]T, error) {
	all := []T{}
	err := s.query(statement, func(r row) error {
		var one T
		err := r.Scan(columns(&one)...)
		all = append(all, one)
		return err
	}, values...)
	return all, err
}

// only returns the row of an answer that has one at most.
func only[T any](rows []T, err error) (one T, _ error) {
	if err != nil {
		return one, err
	}
	if len(rows) == 0 {
		return one, errNotFound
	}
	return rows[0], nil
}

// A storeOpener opens the store when it is first used, unless that is done before.
type storeOpener struct {
	open   func() (database, error)
	mutex  sync.Mutex
	opened *store
}

// get returns the store. Where it cannot be opened, the next call tries again.
func (o *storeOpener) get() (*store, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.opened == nil {
		opened, err := o.open()
		if err != nil {
			return nil, err
		}
		o.opened = &store{opened}
	}
	return o.opened, nil
}

func (o *storeOpener) close() {
	if o.opened != nil {
		o.opened.close()
	}
}

// using makes a handler of what needs the store.
func (o *storeOpener) using(use func(*store, *http.Request) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		s, err := o.get()
		if err != nil {
			log.Print(err)
			return nil, errUnavailable
		}
		return use(s, r)
	}
}

// usingBody does so of what needs the body of a request as well.
func (o *storeOpener) usingBody(use func(*store, *http.Request, any) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		body, err := readBody(r)
		if err != nil {
			return nil, err
		}
		return o.using(func(s *store, r *http.Request) (any, error) { return use(s, r, body) })(r)
	}
}
