//go:build !linux

package warmup

func dropProgramPages() {}
