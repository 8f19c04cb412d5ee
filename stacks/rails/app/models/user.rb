class User < ContentRecord
  validates :name, :email, text: { maximum: 200 }
end
