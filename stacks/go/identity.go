package main

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// started is when the process began, but for the milliseconds of loading it.
var started = time.Now()

// An identity is the answer to GET /: what this server is and what it has used.
type identity struct {
	Server        string     `json:"server"`
	Runtime       named      `json:"runtime"`
	Framework     named      `json:"framework"`
	Driver        driverName `json:"driver"`
	Store         any        `json:"store"`
	Workers       int        `json:"workers"`
	PID           int        `json:"pid"`
	UptimeSeconds float64    `json:"uptimeSeconds"`
	CPUUs         int64      `json:"cpuUs"`
	RSSBytes      int64      `json:"rssBytes"`
}

type named struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type driverName struct {
	Name   string `json:"name"`
	SQLite string `json:"sqlite"`
}

type sqliteName struct {
	Name        string `json:"name"`
	Driver      string `json:"driver"`
	File        string `json:"file"`
	Journal     string `json:"journal"`
	Synchronous string `json:"synchronous"`
}

type postgresName struct {
	Name    string `json:"name"`
	Driver  string `json:"driver"`
	Pool    int    `json:"pool"`
	Prepare bool   `json:"prepare"`
}

// identify returns a function that tells the identity as it is then.
func identify(c config, sqliteVersion string) func() identity {
	version := strings.TrimPrefix(runtime.Version(), "go")
	fixed := identity{
		Server:    "go",
		Runtime:   named{"go", version},
		Framework: named{"net/http", version}, // it comes with Go
		Driver:    driverName{c.driver, sqliteVersion},
		Store:     sqliteName{"sqlite", c.driver + " " + sqliteVersion, c.contentFile, c.journal, c.synchronous},
		Workers:   1,
		PID:       os.Getpid(),
	}
	if c.store == "postgres" {
		p := c.postgres
		version := versionOf(postgresClients[p.client].module)
		fixed.Store = postgresName{c.store, p.client + " " + version, p.pool, p.prepare}
	}
	return func() identity {
		now := fixed
		now.UptimeSeconds = time.Since(started).Seconds()
		now.CPUUs, now.RSSBytes = usage()
		return now
	}
}

// versionOf tells the version of a module that the server was built with.
func versionOf(module string) string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range build.Deps {
			if dependency.Path == module {
				return strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return ""
}

// usage tells the CPU time and the memory used so far; where there is no /proc, the most memory it has ever used.
func usage() (cpuUs, rssBytes int64) {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails for no other argument than a bad one
	cpuUs = (used.Utime.Nano() + used.Stime.Nano()) / 1_000
	if statm, err := os.ReadFile("/proc/self/statm"); err == nil { // proc_pid_statm(5): size, resident, … in pages
		if fields := bytes.Fields(statm); len(fields) > 1 {
			pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			return cpuUs, pages * int64(os.Getpagesize())
		}
	}
	return cpuUs, int64(used.Maxrss)
}
