package upstream

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func etcd() int {
	etcdmain.Main(os.Args) // exits by itself
	return 0
}
