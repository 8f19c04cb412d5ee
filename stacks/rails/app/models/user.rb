# frozen_string_literal: true

class User < ContentRecord
  validates :name, :email, text: { maximum: 200 }
end
