# frozen_string_literal: true

class Person30 < Person
end
