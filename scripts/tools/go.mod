module github.com/controllings/controllings/scripts/tools

go 1.26.0

require (
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	golang.org/x/mod v0.43.0 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
)
