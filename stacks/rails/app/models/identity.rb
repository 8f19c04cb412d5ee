# frozen_string_literal: true

# Versions and settings of this server; CPU time and memory of all its processes.
module Identity
  STARTED = Process.clock_gettime(Process::CLOCK_MONOTONIC) # before Puma forks

  class << self
    def to_h
      sqlite = ApplicationRecord.connection.database_version.to_s
      {
        server: "ruby-rails",
        runtime: { name: "ruby", version: RUBY_VERSION },
        framework: { name: "rails", version: Rails.version },
        driver: { name: Settings::DRIVER, sqlite: },
        store: { name: "sqlite", driver: "#{Settings::DRIVER} #{sqlite}", file: Settings::CONTENT_FILE,
                 journal: Settings::JOURNAL, synchronous: Settings::SYNCHRONOUS },
        workers: Settings::WORKERS,
        pid: pids.first,
        uptimeSeconds: Process.clock_gettime(Process::CLOCK_MONOTONIC) - STARTED,
        cpuUs: pids.sum { |pid| cpu_us(pid) },
        rssBytes: pids.sum { |pid| rss_bytes(pid) }
      }
    end

    private

    # This process; with several workers, Puma's supervisor and all workers.
    def pids
      return [Process.pid] if Settings::WORKERS == 1

      supervisor = Process.ppid
      [supervisor, *File.read("/proc/#{supervisor}/task/#{supervisor}/children").split.map(&:to_i)]
    end

    # Linux's CPU clock of a process; clock_getcpuclockid(3) computes its id in the same way.
    def cpu_us(pid)
      Process.clock_gettime((~pid << 3) | 2, :microsecond)
    end

    def rss_bytes(pid)
      File.read("/proc/#{pid}/statm").split[1].to_i * Etc.sysconf(Etc::SC_PAGESIZE)
    end
  end
end
