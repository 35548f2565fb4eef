package component

// Kwok plays the kubelets of simulated nodes: it renews their leases and moves
// Pods through their life, by the rules ("stages") in StagesFile. No container
// ever runs.
func Kwok() Component {
	return Component{Name: "kwok", Args: func(Config) []string {
		return []string{
			"--kubeconfig=" + Kubeconfig(KwokClient),
			"--config=" + StagesFile,
			// Only nodes that say so are simulated: a learner may make a Node of
			// their own without its coming alive.
			"--manage-all-nodes=false",
			"--manage-nodes-with-annotation-selector=" + NodeAnnotation + "=fake",
			"--node-lease-duration-seconds=40",
			"--cidr=10.244.0.0/16",
			"--node-ip=127.0.0.1",
		}
	}}
}

// NodeAnnotation marks a Node as simulated, with the value "fake".
const NodeAnnotation = "kwok.x-k8s.io/node"
