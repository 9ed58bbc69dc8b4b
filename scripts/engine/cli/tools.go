//go:build tools

// Package tools pins the Pulumi command line that is built where the official download cannot be had.
package tools

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
