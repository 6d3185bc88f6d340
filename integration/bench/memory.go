package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// idleCounts are the numbers of idle connections that memory is measured with. lnk lets in a quarter as many as it may have
// descriptors.
func (b *bench) idleCounts() []int {
	const spare = 100
	return []int{1, 1000, min(10000, int(b.descriptors)/4-spare)}
}

// settling is how long what was just opened is left alone before it is weighed: buffers go back, and the log is written.
const settling = 1500 * time.Millisecond

// weight is what a number of connections takes.
type weight struct {
	count       int
	processes   int // of lnk's
	pss         float64
	descriptors int
	kernel      float64 // the sockets of all that take part, client and server too
}

// memory weighs a sandbox with idle connections, and takes off what the same connections weigh in the kernel without one.
func (b *bench) memory(ctx context.Context) error {
	fmt.Printf("\nMemory of lnk's processes (proportional set size)\n")
	bare, err := b.weigh(ctx, direct())
	if err != nil {
		return err
	}
	with, err := b.weigh(ctx, inSandbox("memory"))
	if err != nil {
		return err
	}
	empty := with[0]
	printGoal(fmt.Sprintf("idle sandbox, %d processes", empty.processes), mebibytes(empty.pss), "≤ 16 MiB")
	for i := 1; i < len(with); i++ {
		more := float64(with[i].count - empty.count)
		process := (with[i].pss - empty.pss) / more
		kernel := (with[i].kernel - empty.kernel - bare[i].kernel + bare[0].kernel) / more
		printGoal(fmt.Sprintf("each of %d idle connections", with[i].count),
			fmt.Sprintf("%s (process %s, kernel %s)", kibibytes(process+kernel), kibibytes(process), kibibytes(kernel)), "≤ 24 KiB")
		printGoal("  its descriptors", fmt.Sprintf("%.2f", float64(with[i].descriptors-empty.descriptors)/more), "2")
	}
	return nil
}

// weigh opens idle connections in a place and weighs after each count.
func (b *bench) weigh(ctx context.Context, p place) (all []weight, err error) {
	args := []string{"hold", p.target(portHold)}
	for _, n := range b.idleCounts() {
		args = append(args, strconv.Itoa(n))
	}
	cmd := p.command(ctx, args...)
	var said output
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.space.start(cmd); err != nil {
		return nil, err
	}
	defer func() {
		in.Close()
		if ended := cmd.Wait(); err == nil && ended != nil {
			err = fmt.Errorf("%s: holding connections: %w: %s", p.name, ended, said.String())
		}
	}()
	lines := bufio.NewReader(out)
	for _, count := range b.idleCounts() {
		if _, err := lines.ReadString('\n'); err != nil {
			return nil, fmt.Errorf("%s: opening %d connections: %w", p.name, count, err)
		}
		<-time.After(settling)
		w, err := weighNow(cmd.Process.Pid)
		if err != nil {
			return nil, err
		}
		w.count = count
		all = append(all, w)
		if _, err := io.WriteString(in, "\n"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// weighNow weighs those of a process and its descendants that are lnk, and the kernel's sockets.
func weighNow(pid int) (w weight, err error) {
	for _, p := range family(pid) {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p))
		if err != nil || !strings.HasSuffix(exe, "/lnk") {
			continue
		}
		pss, err := pssOf(p)
		if err != nil {
			return w, err
		}
		fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p))
		if err != nil {
			return w, err
		}
		w.processes++
		w.pss += pss
		w.descriptors += len(fds)
	}
	w.kernel, err = kernelSockets()
	return w, err
}

// family is a process and its descendants.
func family(pid int) []int {
	all := []int{pid}
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range tasks {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for _, word := range strings.Fields(string(children)) {
			if child, err := strconv.Atoi(word); err == nil {
				all = append(all, family(child)...)
			}
		}
	}
	return all
}

// pssOf is a process's share of memory: what it shares with others counts by its part of it (proc_pid_smaps(5)).
func pssOf(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "Pss: %f kB", &kib); n == 1 {
			return kib * 1024, nil
		}
	}
	return 0, fmt.Errorf("reading the memory of process %d: no Pss", pid)
}

// kernelSockets is what the kernel's sockets take, of the whole machine: its caches for what comes with a TCP connection and a descriptor
// (slabinfo(5)), and a directory entry for each socket. Other programs' sockets are in it; they come and go by dozens, not by thousands.
func kernelSockets() (float64, error) {
	text, err := os.ReadFile("/proc/slabinfo")
	if err != nil {
		return 0, fmt.Errorf("weighing the kernel's sockets: %w", err)
	}
	const inode, entry = "sock_inode_cache", "dentry"
	active, size := map[string]float64{}, map[string]float64{}
	for line := range strings.Lines(string(text)) {
		var name string
		var used, of, octets float64
		if n, _ := fmt.Sscanf(line, "%s %f %f %f", &name, &used, &of, &octets); n == 4 {
			active[name], size[name] = used, octets
		}
	}
	total := active[inode] * size[entry]
	for _, name := range []string{"TCP", inode, "filp", "nf_conntrack", "eventpoll_epi", "ep_head"} {
		total += active[name] * size[name]
	}
	return total, nil
}
