# frozen_string_literal: true

class Person5 < Person
end
