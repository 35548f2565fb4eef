package component

// Scheduler gives Pods a node.
func Scheduler() Component {
	return Component{Name: "kube-scheduler", Args: func(Config) []string {
		return []string{
			"--kubeconfig=" + Kubeconfig(SchedulerClient),
			"--leader-elect=false",
			"--secure-port=0",
			"--profiling=false",
		}
	}}
}
