module github.com/routecap/routecap/bindings/go

go 1.24

require github.com/ebitengine/purego v0.10.0
