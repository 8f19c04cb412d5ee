package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// config is everything that is set from outside, by environment variables.
type config struct {
	host   string
	port   int
	dbFile string
	driver string
	// store is where content items are kept; "" is sqlite, opened when it is first used.
	store       string
	contentFile string
	journal     string
	synchronous string
	postgres    postgresConfig
}

type postgresConfig struct {
	client string
	url    string
	// pool is the most connections at a time.
	pool int
	// prepare tells whether statements are prepared on the server, once per connection.
	prepare bool
	// tx is how pgbench's transaction is asked for.
	tx string
	// idle is how many connections lib/pq keeps while they are idle.
	idle int
}

// readConfig reads the environment. The error names the variable, its value and what it may be.
func readConfig() (config, error) {
	var env environment
	if env.integer("WORKERS", 1, 256) != 1 {
		env.mistake("WORKERS", " go uses every core by threads: leave it out")
	}
	c := config{
		host:        env.text("HOST", "0.0.0.0"),
		port:        env.integer("PORT", 3_000, 65_535),
		dbFile:      env.text("DB_FILE", "data.db"),
		driver:      env.oneOf("SQLITE_DRIVER", " on go", "mattn", "modernc"),
		contentFile: env.text("CONTENT_FILE", "content.db"),
		journal:     env.oneOf("SQLITE_JOURNAL", "", "wal", "delete"),
		synchronous: env.oneOf("SQLITE_SYNCHRONOUS", "", "normal", "full", "off", "extra"),
		postgres: postgresConfig{
			client:  env.oneOf("POSTGRES_CLIENT", " on go", "pgx", "lib/pq"),
			url:     env.text("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres"),
			pool:    env.integer("POSTGRES_POOL", 10, 1_000),
			prepare: env.oneOf("POSTGRES_PREPARE", "", "true", "false") == "true",
			tx:      env.oneOf("POSTGRES_TX", "", "statements", "function"),
		},
	}
	c.postgres.idle = env.integer("POSTGRES_IDLE", c.postgres.pool, 1_000)
	if os.Getenv("POSTGRES_IDLE") != "" && c.postgres.client != "lib/pq" {
		env.mistake("POSTGRES_IDLE", " only lib/pq has it: leave it out")
	}
	if store := env.oneOf("STORE", "", "sqlite", "postgres"); os.Getenv("STORE") != "" {
		c.store = store
	}
	return c, env.err
}

// environment reads variables, an empty one as if it were not set, and remembers the first mistake.
type environment struct{ err error }

func (e *environment) mistake(name, remedy string) {
	if e.err == nil {
		e.err = fmt.Errorf(`%s is "%s":%s`, name, os.Getenv(name), remedy)
	}
}

func (e *environment) text(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// integer reads one from 1 to most.
func (e *environment) integer(name string, otherwise, most int) int {
	value, err := strconv.ParseUint(e.text(name, strconv.Itoa(otherwise)), 10, 31)
	if err != nil || value < 1 || int(value) > most {
		e.mistake(name, fmt.Sprintf(" set it to an integer from 1 to %d", most))
	}
	return int(value)
}

// oneOf reads one of choices, the first where none is set; where says for what they are all.
func (e *environment) oneOf(name, where string, choices ...string) string {
	value := e.text(name, choices[0])
	if !slices.Contains(choices, value) {
		e.mistake(name, where+" set it to one of "+strings.Join(choices, " "))
	}
	return value
}
