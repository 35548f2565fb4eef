//go:build !linux

package plane

import "os"

// holdPort holds nothing: where two sockets have a port, a BSD kernel may hand
// connections to the one that doesn't listen. The port is free while the API
// server is down, and most likely still so when it comes back.
func holdPort(int) (*os.File, error) { return nil, nil }
