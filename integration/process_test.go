package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// comm is a process's name; empty where there is no such process.
func comm(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(text))
}

// childrenOf are the children of all of a process's threads, by pid.
func childrenOf(pid int) []int {
	var all []int
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, child)
			}
		}
	}
	slices.Sort(all)
	return all
}

// descendants are all the processes below a process.
func descendants(pid int) []int {
	var all []int
	for _, child := range childrenOf(pid) {
		all = append(append(all, child), descendants(child)...)
	}
	return all
}
