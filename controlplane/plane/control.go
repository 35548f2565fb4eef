package plane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/controllings/controllings/controlplane/endpoint"
	"github.com/controllings/controllings/controlplane/supervise"
)

// Control returns a client of the control endpoint. Whether there is one is
// known only when it is asked.
func (d Dir) Control() (*endpoint.Client, error) {
	locked, err := supervise.Locked(d.lockFile())
	if err != nil {
		return nil, explain(err)
	}
	if !locked { // the file may have been left by a kill -9
		return nil, &endpoint.Error{Code: http.StatusServiceUnavailable, Err: errors.New("the control plane is down"), Hint: "start it: lab cluster up"}
	}
	return endpoint.NewClient(d.ControlFile()), nil
}

// restore puts everything back as it was after the start, and says what it did.
func (d Dir) restore(ctx context.Context, progress io.Writer) error {
	c, err := d.Control()
	if err != nil {
		return err
	}
	did, err := c.Restore(ctx)
	for _, line := range did {
		fmt.Fprintln(progress, line)
	}
	if err != nil {
		return fmt.Errorf("put the control plane back: %w", err)
	}
	return nil
}
