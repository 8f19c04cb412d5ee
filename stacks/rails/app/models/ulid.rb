# frozen_string_literal: true

# Ids in the format of github.com/ulid/spec: milliseconds, then 80 random bits.
module Ulid
  PATTERN = /\A[0-7][0-9A-HJKMNP-TV-Z]{25}\z/

  def self.generate
    time = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)
    number = (time << 80) | SecureRandom.random_number(1 << 80)
    number.to_s(32).rjust(26, "0").tr("0-9a-v", "0-9A-HJKMNP-TV-Z")
  end
end
