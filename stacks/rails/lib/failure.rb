# frozen_string_literal: true

# An answer other than 2xx, to be raised.
class Failure < StandardError
  attr_reader :status

  def initialize(status, message)
    super(message)
    @status = status
  end
end
