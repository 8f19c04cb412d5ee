# frozen_string_literal: true

class NewUser < Body
  attribute :name
  attribute :email

  validates :name, :email, text: { maximum: 200 }
end
