require_relative "settings"

begin
  TCPServer.new(Settings::HOST, Settings::PORT).close
rescue SystemCallError, SocketError => e
  reason = e.is_a?(Errno::EADDRINUSE) ? "is taken" : "cannot be listened on (#{e.message})"
  abort "#{Settings::HOST}:#{Settings::PORT} #{reason}: choose another with PORT or HOST"
end

rackup File.expand_path("../config.ru", __dir__)
environment "production"
port Settings::PORT, Settings::HOST
threads Settings::THREADS, Settings::THREADS
persistent_timeout 10

# SIGTERM is the usual way to stop the server, so it is no error. After 4 s Puma cuts the requests in flight.
raise_exception_on_sigterm false
force_shutdown_after 4

if Settings::WORKERS > 1
  workers Settings::WORKERS
  preload_app!
  before_fork { ActiveRecord::Base.connection_handler.clear_all_connections! }
end
