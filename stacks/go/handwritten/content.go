package main

import (
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"strconv"
	"time"
)

type draft struct {
	Title  string          `json:"title"`
	Body   string          `json:"body"`
	Author string          `json:"author"`
	Status string          `json:"status"`
	Data   json.RawMessage `json:"data"`
}

type content struct {
	ID string `json:"id"`
	draft
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

func (c *content) columns() []any {
	return []any{&c.ID, &c.Title, &c.Body, &c.Author, &c.Status, (*[]byte)(&c.Data), &c.CreatedAt, &c.UpdatedAt}
}

// routeContents answers with what is in a SQLite file that has the table already.
func routeContents(file string) {
	db, err := sql.Open("sqlite3", "file:"+file+"?_journal_mode=WAL&_synchronous=NORMAL&_busy_timeout=5000&_cache_size=-16000")
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(1) // SQLite has one writer
	prepare := func(query string) *sql.Stmt {
		statement, err := db.Prepare(query)
		if err != nil {
			log.Fatal(err)
		}
		return statement
	}
	create := prepare("INSERT INTO content VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	read := prepare("SELECT * FROM content WHERE id = ?")
	update := prepare(`UPDATE content SET title = ?, body = ?, author = ?, status = ?, data = ?, updated_at = ? WHERE id = ?
		RETURNING *`)
	remove := prepare("DELETE FROM content WHERE id = ?")
	list := prepare("SELECT * FROM content WHERE id > ? ORDER BY id LIMIT ?")

	http.HandleFunc("POST /content", func(w http.ResponseWriter, r *http.Request) {
		var c content
		if err := json.NewDecoder(r.Body).Decode(&c.draft); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		c.ID = rand.Text()
		c.CreatedAt = now()
		c.UpdatedAt = c.CreatedAt
		if _, err := create.Exec(c.ID, c.Title, c.Body, c.Author, c.Status, string(c.Data), c.CreatedAt, c.UpdatedAt); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		sendJSON(w, http.StatusCreated, c)
	})
	http.HandleFunc("GET /content/{id}", func(w http.ResponseWriter, r *http.Request) {
		sendRow(w, read.QueryRow(r.PathValue("id")))
	})
	http.HandleFunc("PUT /content/{id}", func(w http.ResponseWriter, r *http.Request) {
		var d draft
		if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		sendRow(w, update.QueryRow(d.Title, d.Body, d.Author, d.Status, string(d.Data), now(), r.PathValue("id")))
	})
	http.HandleFunc("DELETE /content/{id}", func(w http.ResponseWriter, r *http.Request) {
		result, err := remove.Exec(r.PathValue("id"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if removed, _ := result.RowsAffected(); removed == 0 {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	http.HandleFunc("GET /content", func(w http.ResponseWriter, r *http.Request) {
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rows, err := list.Query(r.FormValue("after"), limit+1)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer rows.Close()
		page := struct {
			Items []content `json:"items"`
			Next  *string   `json:"next"`
		}{Items: []content{}}
		for rows.Next() {
			var c content
			if err := rows.Scan(c.columns()...); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			page.Items = append(page.Items, c)
		}
		if len(page.Items) > limit {
			page.Items = page.Items[:limit]
			page.Next = &page.Items[limit-1].ID
		}
		sendJSON(w, http.StatusOK, page)
	})
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

func sendRow(w http.ResponseWriter, row *sql.Row) {
	var c content
	err := row.Scan(c.columns()...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		sendJSON(w, http.StatusOK, c)
	}
}
