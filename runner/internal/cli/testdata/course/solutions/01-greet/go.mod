module github.com/controllings/controllings/solutions/01-greet

go 1.26.0

require github.com/controllings/controllings/todo v0.0.0

replace github.com/controllings/controllings/todo => ../../todo
