# frozen_string_literal: true

# A text that every store can keep. Refuses a number, because Active Record would convert it to a text.
class TextValidator < ActiveModel::EachValidator
  def validate_each(record, attribute, _value)
    text = record.read_attribute_before_type_cast(attribute.to_s)
    most = options[:maximum]
    return if text.is_a?(String) && text.length.between?(1, most) && text.exclude?("\0")

    record.errors.add(attribute, "must be a text of 1 to #{most} characters")
  end
end
