# frozen_string_literal: true

class UlidValidator < ActiveModel::EachValidator
  def validate_each(record, attribute, value)
    if !value.is_a?(String) then record.errors.add(attribute, "must be string")
    elsif !value.match?(Ulid::PATTERN)
      record.errors.add(attribute, 'must match pattern "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"')
    end
  end
end
