# frozen_string_literal: true

# What a client says in JSON, with the mistakes that shared/content/schema.ts finds in it, in the words of ajv.
class Body
  include ActiveModel::Model
  include ActiveModel::Attributes

  class << self
    # Raises a Failure with the first mistake.
    def read(json)
      mistake = mistake_in(json)
      body = new(json) unless mistake
      mistake ||= body.mistake
      return body unless mistake

      raise Failure.new(422, mistake)
    end

    private

    # Attributes that have to be there.
    def required
      attribute_names
    end

    def mistake_in(json)
      return "the body must be object" unless json.is_a?(Hash)

      missing = required.find { |name| !json.key?(name) }
      return "the body must have required property '#{missing}'" if missing

      more = EcmaJson.keys(json).find { |key| attribute_names.exclude?(key) }
      "the body must NOT have additional properties #{more}" if more
    end
  end

  # Rails validates UTF-8 only. No text may have U+0000 either.
  def read_attribute_for_validation(name)
    value = super
    value.is_a?(String) ? EcmaJson.replace_halves(value, "\0") : value
  end

  # The first one in the attributes, or nil.
  def mistake
    return if valid?

    error = errors.first
    "#{error.attribute} #{error.message}"
  end
end
