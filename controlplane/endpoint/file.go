package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"

	"github.com/controllings/controllings/controlplane/files"
)

// File is what a client has to know. It is kept with mode 0600.
type File struct {
	URL   string `json:"url"`   // http://127.0.0.1:PORT
	Token string `json:"token"` // of this start
}

func (f File) write(path string) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return files.Write(path, append(data, '\n'))
}

// ReadFile reads the file at path. Its error is an *Error with a hint.
func ReadFile(path string) (File, error) {
	var f File
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, &Error{Code: http.StatusServiceUnavailable, Err: errors.New("the control plane is down"), Hint: "start it: lab cluster up"}
	}
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err == nil && (f.URL == "" || f.Token == "") {
		err = errors.New("url or token is missing")
	}
	if err != nil {
		return f, &Error{Code: http.StatusServiceUnavailable, Err: fmt.Errorf("read %q: %w", path, err), Hint: "start the cluster anew: lab cluster down, then lab cluster up"}
	}
	return f, nil
}
