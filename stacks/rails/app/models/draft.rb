# frozen_string_literal: true

# What a client says of a content.
class Draft < Body
  STATUSES = %w[draft published archived].freeze
  MAX_DEPTH = 64

  attribute :title
  attribute :body
  attribute :author
  attribute :status, default: "draft"
  attribute :data

  validates :title, text: { maximum: 200 }
  validates :body, text: { maximum: 50_000 }
  validates :author, text: { maximum: 200 }
  validates :status, inclusion: { in: STATUSES, message: "must be equal to one of the allowed values" }
  validates_each :data do |draft, name, data|
    draft.errors.add(name, "must not be nested more than #{MAX_DEPTH} deep") unless EcmaJson.shallow?(data, MAX_DEPTH)
  end

  def self.required
    %w[title body author]
  end
  private_class_method :required

  # As it is stored.
  def to_h
    attributes.merge("data" => EcmaJson.generate(data))
  end
end
