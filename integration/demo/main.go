// Command demo shows what lnk does, on a small internet of its own in network namespaces: nothing it does reaches a
// real network or stays on the machine. It needs root.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"lnk/integration/internet"
)

func main() {
	internet.Enter(internet.Tool{Name: "lnk", Package: "lnk/cmd/lnk"})
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// The names of the demo's internet, and whose addresses they have.
var names = map[string]byte{"packages.example": 30, "tracker.example": 66, "mirror.example": 12}

func run() error {
	start := time.Now()
	w, err := internet.Open()
	if err != nil {
		return err
	}
	for name, host := range names {
		if err := w.DNS.Set(fmt.Sprintf("%s. 60 IN A %s", name, internet.Addr4(host)), fmt.Sprintf("%s. 60 IN AAAA %s", name, internet.Addr6(host))); err != nil {
			return err
		}
	}
	// A minute is more than all of it takes; what hangs ends with it.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d := &demo{ctx: ctx, world: w}
	for _, step := range []func(){d.allowed, d.refused, d.log, d.metadata, d.killSwitch, d.left} {
		if step(); d.err != nil {
			return d.err
		}
	}
	fmt.Printf("\nThat was all, in %d seconds. The small internet is gone with it.\n", int(time.Since(start).Seconds()))
	return nil
}

// demo is the show; after the first error its steps do nothing.
type demo struct {
	ctx   context.Context
	world *internet.World
	err   error
}

func (d *demo) say(format string, args ...any) {
	if d.err == nil {
		fmt.Printf("\n\x1b[1m"+format+"\x1b[0m\n", args...)
	}
}

// show runs a command line of the machine's root and shows it with what it prints. Whether it fails is for the reader.
func (d *demo) show(line string) string {
	if d.err != nil {
		return ""
	}
	fmt.Println("  $ sudo " + line)
	out, err := d.world.Machine.Command(d.ctx, internet.Root, "sh", "-c", line).CombinedOutput()
	for text := range strings.Lines(string(out)) {
		fmt.Println("    " + strings.TrimRight(text, "\n"))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		fmt.Printf("    (exit status %d)\n", exit.ExitCode())
	} else if err != nil {
		d.err = fmt.Errorf("%s: %w", line, err)
	}
	return string(out)
}

// want ends the show with an error where something isn't as it is told.
func (d *demo) want(ok bool, what string) {
	if d.err == nil && !ok {
		d.err = fmt.Errorf("it should be so: %s", what)
	}
}

func (d *demo) allowed() {
	d.say("1. A program may call what it is allowed, by name; the certificate is the server's own.")
	out := d.show("lnk sandbox run -n demo -a packages.example -- curl -sS https://packages.example/")
	d.want(strings.Contains(out, "hello from packages.example"), "the allowed call goes through")
}

func (d *demo) refused() {
	d.say("2. Anything else is refused at once, in words where the protocol has some. The name is never even looked up.")
	out := d.show("lnk sandbox run -q -n demo -a packages.example -- curl -sS http://tracker.example/")
	d.want(strings.Contains(out, "tracker.example"), "the refusal names what was refused")
	d.show("lnk sandbox run -q -n demo -a packages.example -- curl -sS https://tracker.example/")
	asked, calls := len(d.world.DNS.Asked("tracker.example")), len(d.world.Server("evil").Calls())
	fmt.Printf("    The server of tracker.example saw %d calls, the internet's DNS server %d questions about it.\n", calls, asked)
	d.want(asked == 0 && calls == 0, "nothing of a refused call leaves the machine")
}

func (d *demo) log() {
	d.say("3. Each call has its line in the log: when, who, what, and what it came to. Never a path, a header or a body.")
	d.show("lnk sandbox log")
}

func (d *demo) metadata() {
	d.say("4. A call to a cloud's metadata service is never let out, and it pauses the sandbox.")
	d.show("lnk sandbox run -q -n demo --network open -- curl -sS http://169.254.169.254/latest/meta-data/")
	d.show("lnk sandbox log -n 2")
	d.want(len(d.world.Trap.Packets()) == 0, "no packet reaches the metadata address")
	d.show("lnk sandbox paused")
	d.show("lnk sandbox resume demo")
}

func (d *demo) killSwitch() {
	d.say("5. A download of a gigabyte has begun, and lnk counts what it carries.")
	const line = "lnk sandbox run -q -n download -a mirror.example -- curl -sS -o /dev/null 'http://mirror.example/bytes/1000000000?every=10ms&chunk=200000'"
	fmt.Println("  $ sudo " + line + " &")
	download := d.world.Machine.Command(d.ctx, internet.Root, "sh", "-c", "exec "+line)
	if err := download.Start(); err != nil {
		d.err = err
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- download.Wait() }()
	d.awaitTraffic()
	d.show("lnk sandbox traffic")
	d.say("6. The kill switch: every call of every sandbox ends within a second.")
	start := time.Now()
	d.show("lnk sandbox stop")
	select {
	case <-ended:
		fmt.Printf("    The download was cut after %d ms.\n", time.Since(start).Milliseconds())
	case <-d.ctx.Done():
		d.want(false, "the kill switch ends a running download")
	}
	d.show("lnk sandbox run -q -n demo -a packages.example -- curl -sS http://packages.example/")
	d.show("lnk sandbox stop --off")
	out := d.show("lnk sandbox run -q -n demo -a packages.example -- curl -sS http://packages.example/")
	d.want(strings.Contains(out, "hello from packages.example"), "calls pass again once the kill switch is off")
}

// awaitTraffic waits until the counters of the download have been written, which happens every five seconds.
func (d *demo) awaitTraffic() {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for d.err == nil {
		out, err := d.world.Machine.Command(d.ctx, internet.Root, "lnk", "sandbox", "traffic").CombinedOutput()
		if text := string(out); err == nil && strings.Contains(text, "download") && !strings.Contains(text, " 0 B ") {
			return
		}
		select {
		case <-tick.C:
		case <-d.ctx.Done():
			d.err = fmt.Errorf("waiting for the traffic to be counted: %w\n%s", d.ctx.Err(), out)
		}
	}
}

func (d *demo) left() {
	d.say("7. Nothing is left: no link, no rule, no route, and no sandbox.")
	d.show("ip -br link; lnk sandbox list")
}
