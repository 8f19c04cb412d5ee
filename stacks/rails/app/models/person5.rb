class Person5 < Person
end
