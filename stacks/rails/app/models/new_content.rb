# frozen_string_literal: true

class NewContent < Draft
  attribute :id, default: -> { Ulid.generate }

  validates_with UlidValidator, attributes: %i[id], prepend: true
end
