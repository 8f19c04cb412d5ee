# frozen_string_literal: true

# Texts that every store can keep.
class TextValidator < ActiveModel::EachValidator
  def validate_each(record, attribute, value)
    mistake = mistake_in(value)
    record.errors.add(attribute, mistake) if mistake
  end

  private

  def mistake_in(value)
    if !value.is_a?(String) then "must be string"
    elsif value.length > options[:maximum] then "must NOT have more than #{options[:maximum]} characters"
    elsif value.empty? then "must NOT have fewer than 1 characters"
    elsif value.include?("\0") then 'must match pattern "^[^\u0000\ud800-\udfff]*$"'
    end
  end
end
