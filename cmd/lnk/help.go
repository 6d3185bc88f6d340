package main

// The help screens, one for each command, written by hand: what a person reads when they ask. Flags carry no text
// of their own.

const helpRoot = `lnk runs programs in a network of their own. Every call goes through a wire that
judges it by name, logs it in one line, and can be cut.

  lnk sandbox run -a api.example.org -- PROGRAM     run a program that may call one host
  lnk sandbox log -f                                watch what sandboxes call
  lnk sandbox stop                                  cut every wire, now

Commands:
  sandbox      run, watch and stop programs in sandboxes
  completion   a script that completes commands and names, for your shell
  help         help for a command: lnk help sandbox run
  version      which lnk this is; also --version, -v

Settings and log: ~/.lnk, or the folder that LNK_HOME names.
`

const helpSandbox = `Usage: lnk sandbox COMMAND

Run:
  run          run a program in a network of its own
  check        can this machine hold a sandbox? makes one to see
  why          what would happen to this call, and by which rule

Watch:
  log          every call: when, who, what, and what it came to
  traffic      bytes that each running sandbox carried
  list         the sandboxes that are running

Stop:
  stop         the kill switch: refuse every call of every sandbox, end open ones
  pause        the same for one sandbox; resume ends it
  paused       which sandboxes are paused, and why
  on-stop      what else is run by a stop

Each has its own help: lnk sandbox run --help
`

const helpRun = `Usage: lnk sandbox run [FLAGS] [--] PROGRAM [ARGUMENT...]

Runs a program in a network of its own. What it calls is judged by name, logged,
and can be cut (lnk sandbox stop). Made with sudo, or without it where this
machine lets users make namespaces; under sudo the program runs as you.

  -a, --allow ENDPOINT   what it may call: a name, *.name, an address or a network,
                         with a port (else 80 and 443; :* is any). May be repeated
  -p, --port PORT        a port of this machine that it may call at localhost:PORT
      --network MODE     endpoints   what -a and the spec name, nothing else
                         open        all that is public (when nothing is named)
                         none        nothing
                         host        this machine's own network, NO SANDBOX
  -n, --name NAME        what to call it; its spec is then ~/.lnk/sandbox/specs/NAME.toml,
                         where there is one
      --spec FILE        read the spec from this file
      --user USER        run it as that user (root only)
  -q, --quiet            say nothing that is as expected

Examples:
  sudo lnk sandbox run -a registry.example.org -a '*.cdn.example.org' -- npm ci
  sudo lnk sandbox run -a github.example.org:22 -- git clone git@github.example.org:me/it
  sudo lnk sandbox run -n agent -p 11434 --network endpoints -- python3 agent.py

Exit status: the program's own, or 128 and the number of the signal that ended it.
125: lnk couldn't, and nothing was run. 126: the program can't be run. 127: no such program.
`

const helpLog = `Usage: lnk sandbox log [NAME] [FLAGS]

Shows the calls that sandboxes made, oldest first: the time, the sandbox, the
verb, the target and the outcome. When an allowed call ends, another line has
the bytes out of the sandbox and into it.

  -f, --follow           go on with new lines as they are written
  -n, --lines N          the last N lines only
      --since T          since 10m, 2h or 3d ago, or since a time: 2026-11-30,
                         15:04, 2026-11-30T15:04:05Z
      --verb VERB        only these: connect, tcp, http, port, dns, pause ...
      --outcome OUTCOME  only these: allowed, ended, refused or failed
      --summary          each target once: its calls, bytes and refusals
      --json             one JSON object a line: time, name, verb, target,
                         outcome, out, in, reason, more

Examples:
  lnk sandbox log -f
  lnk sandbox log build --outcome refused --since 1h
  lnk sandbox log --summary

The log is ~/.lnk/sandbox/wire.log. It holds no path, header or body.
`

const helpTraffic = `Usage: lnk sandbox traffic [NAME] [--watch] [--json]

Shows what each running sandbox carried: bytes out of it (a refused call's
request among them) and into it. The counts are up to five seconds old.

      --watch            show it again every second, until ^C
      --json             a list of objects: sandbox, pid, out, in
`

const helpList = `Usage: lnk sandbox list [--json]

Lists the sandboxes that are running, and whether their calls may pass: open,
stopped, paused, or unreadable (their settings can't be looked at: counts as paused).

      --json             a list of objects: name, program, pid, mode, endpoints,
                         ports, since, state, why
`

const helpStop = `Usage: lnk sandbox stop [--off]

The kill switch. Every sandbox refuses every call, and what is open ends within a
second, until lnk sandbox stop --off. Programs go on running, without a network.
What asked to stop with it is run then (lnk sandbox on-stop).

      --off              take the switch off again

A program with --network host has no wire to cut: it goes on.
`

const helpOnStop = `Usage: lnk sandbox on-stop add NAME [FLAGS] [--] COMMAND [ARGUMENT...]
       lnk sandbox on-stop remove NAME
       lnk sandbox on-stop list [--json]

What lnk sandbox stop runs once the wires are cut. Each command runs by itself, as
you, without a shell, and within its limit; if one fails, that is said and the
others run all the same.

      --in FOLDER        where it runs; otherwise in /
      --limit DURATION   how long it may take: 10s if nothing is said

Example:
  lnk sandbox on-stop add db -- docker stop example-db
`

const helpPause = `Usage: lnk sandbox pause NAME [--why TEXT]

Pauses one sandbox: it refuses every call, and what is open ends within a second,
until lnk sandbox resume NAME. A name that isn't running now is paused when it is.

      --why TEXT         a reason, for whoever finds it paused

A sandbox also pauses itself: on 30 refusals within a minute, on 20 different
targets refused within ten, and on any call to a cloud's metadata service.
`

const helpResume = `Usage: lnk sandbox resume NAME

Ends a sandbox's pause. New calls pass; those that the pause ended stay ended.
`

const helpPaused = `Usage: lnk sandbox paused [--json]

Lists the sandboxes that are paused: since when, by whom and why. Says so if every
sandbox is stopped.

      --json             an object: stopped, and paused, a list of name, why, by, since
`

const helpCheck = `Usage: lnk sandbox check [--json]

Can this machine hold a sandbox? Makes one, runs a program in it, and says of each
part whether it works and what is missing. Exit status 1 where it can't.

      --json             an object: ok, and parts, a list of part, ok, problem, hint
`

const helpWhy = `Usage: lnk sandbox why [FLAGS] [NAME] TARGET

Says what would happen to a call, and by which rule. No call is made and no name is
looked up. NAME is a running sandbox, or a spec in ~/.lnk/sandbox/specs. TARGET is
a host and port (443 if it has none), a URL, or localhost:PORT.

      --spec FILE        judge by this file instead of NAME
  -a, --allow ENDPOINT   judge by these endpoints as well, or instead of NAME
  -p, --port PORT        and these ports of this machine
      --network MODE     and this mode

Exit status: 0 where it would be allowed, 1 where it would be refused, 2 on an error.

Examples:
  lnk sandbox why build https://registry.example.org/left-pad
  lnk sandbox why -a '*.example.org' api.example.org:8443
`

const helpCompletion = `Usage: lnk completion bash|zsh|fish

Prints a script that completes commands, flags and names.

Examples:
  source <(lnk completion bash)        for this shell; in ~/.bashrc for each
  source <(lnk completion zsh)         the same, in ~/.zshrc (after compinit)
  lnk completion fish | source         the same, in ~/.config/fish/config.fish
`

const helpVersion = `Usage: lnk version

Says which lnk this is.
`
