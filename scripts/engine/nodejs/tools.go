//go:build tools

// Package tools pins the Node language host: later versions are a module of their own that the Go module proxy does not serve.
package tools

import _ "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs"
