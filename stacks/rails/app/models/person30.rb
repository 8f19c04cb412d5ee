class Person30 < Person
end
