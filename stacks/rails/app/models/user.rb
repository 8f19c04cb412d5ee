# frozen_string_literal: true

class User < ContentRecord
end
