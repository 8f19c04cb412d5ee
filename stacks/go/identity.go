package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

var started = time.Now()

// identity is the answer to GET /: versions and settings of this server, its CPU time and its memory.
func identity(c config, sqliteVersion string) any {
	type object = map[string]any
	version := strings.TrimPrefix(runtime.Version(), "go")
	store := object{
		"name": "sqlite", "driver": c.driver + " " + sqliteVersion,
		"file": c.contentFile, "journal": c.journal, "synchronous": c.synchronous,
	}
	if c.store == "postgres" {
		module := map[string]string{"pgx": "github.com/jackc/pgx/v5", "lib/pq": "github.com/lib/pq"}[c.client]
		client := c.client + " " + versionOf(module)
		store = object{"name": c.store, "driver": client, "pool": c.pool, "prepare": c.prepare}
	}
	cpuUs, rssBytes := usage()
	return object{
		"server":        "go",
		"runtime":       object{"name": "go", "version": version},
		"framework":     object{"name": "net/http", "version": version}, // part of Go
		"driver":        object{"name": c.driver, "sqlite": sqliteVersion},
		"store":         store,
		"workers":       1,
		"pid":           os.Getpid(),
		"uptimeSeconds": time.Since(started).Seconds(),
		"cpuUs":         cpuUs,
		"rssBytes":      rssBytes,
	}
}

// versionOf returns the version of a module that the server was built with.
func versionOf(module string) string {
	build, _ := debug.ReadBuildInfo()
	for _, dependency := range build.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return ""
}

// usage returns CPU time and memory; without /proc it returns the peak memory.
func usage() (cpuUs, rssBytes int64) {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails only for an unknown first argument
	rssBytes = int64(used.Maxrss)
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil { // proc_pid_statm(5): size, resident, … in pages
		var size, resident int64
		_, _ = fmt.Sscan(string(statm), &size, &resident)
		rssBytes = resident * int64(os.Getpagesize())
	}
	return (used.Utime.Nano() + used.Stime.Nano()) / 1_000, rssBytes
}
