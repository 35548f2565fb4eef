package plane

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/controllings/controllings/controlplane/files"
	"github.com/controllings/controllings/controlplane/supervise"
)

// phase is where the supervisor is in its life.
type phase string

const (
	starting   phase = "starting"
	phaseReady phase = "ready"
	stopping   phase = "stopping"
)

// record is what the supervisor keeps in DIR/state. It is only worth something
// while DIR/lock is held.
type record struct {
	Supervisor int                `json:"supervisor"` // pid
	Kubernetes string             `json:"kubernetes"`
	Server     string             `json:"server"`
	Phase      phase              `json:"phase"`
	Components []supervise.Status `json:"components"`
}

func (d Dir) readState() (record, error) {
	var r record
	data, err := os.ReadFile(d.stateFile())
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read %q: %w", d.stateFile(), err)
	}
	return r, nil
}

func (d Dir) writeState(r record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return files.Write(d.stateFile(), append(data, '\n'))
}
