module github.com/routecap/routecap/bindings/go

go 1.24
