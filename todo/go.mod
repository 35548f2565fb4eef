module github.com/controllings/controllings/todo

go 1.26.0
