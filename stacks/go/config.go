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
}

// readConfig reads the environment. The error names the variable, its value and what it may be.
func readConfig() (config, error) {
	var env environment
	workers := env.integer("WORKERS", 1, 256)
	c := config{
		host:   env.text("HOST", "0.0.0.0"),
		port:   env.integer("PORT", 3000, 65_535),
		dbFile: env.text("DB_FILE", "data.db"),
		driver: env.oneOf("SQLITE_DRIVER", " on go", "mattn", "modernc"),
	}
	if workers != 1 {
		env.mistake("WORKERS", " go uses every core by threads: leave it out")
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
