package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"lnk/policy"
)

// protocol is what a client's first bytes turned out to be.
type protocol uint8

const (
	unread    protocol = iota // not enough bytes yet
	silent                    // nothing came in time
	gone                      // the client reset the connection, or the flow was ended
	raw                       // bytes that show no name
	rawLine                   // bytes that show no name yet, in a first line that hasn't ended
	tlsHello                  // a ClientHello, whole
	httpText                  // the first line of an HTTP request, or HTTP/2's preface
	malformed                 // what two readers could read differently, or what can't be read
)

// greeting is a client's first bytes, held back until they are judged.
type greeting struct {
	protocol protocol
	bytes    []byte      // all that was read, to be replayed
	shown    policy.Host // the SNI of a ClientHello, if it has one
	eof      bool        // the client has ended its direction
	late     bool        // the server's bytes have been carried to the client already: nothing else can be said to it
}

// maxGreeting bounds what is held back of a client's first bytes: a ClientHello of 64 KiB (the most that crypto/tls reads) in records
// of one byte, each with its header of five, would be 384 KiB; what is longer than this isn't sent by anything that means well.
const maxGreeting = 128 << 10

// sniff reads the client's first bytes until it is known what they are. first bounds the wait for the first byte (0: no bound),
// total the rest. Nothing is consumed: greeting.bytes holds everything, for whoever serves the flow.
func (f *flow) sniff(first, total time.Duration) greeting {
	defer f.client.SetReadDeadline(time.Time{})
	if first > 0 {
		f.client.SetReadDeadline(time.Now().Add(first))
	}
	g := greeting{bytes: f.pre}
	f.pre = nil
	for begun := false; ; {
		if !begun && len(g.bytes) > 0 {
			begun = true
			f.client.SetReadDeadline(time.Now().Add(total))
		}
		switch g.protocol = classify(g.bytes); {
		case g.protocol == tlsHello:
			return f.readHello(g)
		case g.protocol != unread:
			return g
		case len(g.bytes) >= maxGreeting:
			g.protocol = malformed
			return g
		}
		more, err := readReady(f.client)
		g.bytes = append(g.bytes, more...)
		if err != nil {
			return g.ended(err)
		}
	}
}

// ended is the greeting of a client that sends no more: what there is is all there will be.
func (g greeting) ended(err error) greeting {
	late := errors.Is(err, os.ErrDeadlineExceeded)
	g.eof = errors.Is(err, io.EOF)
	switch {
	case g.eof:
		g.protocol = raw
	case late && len(g.bytes) == 0:
		g.protocol = silent
	case late:
		g.protocol = malformed
	default:
		g.protocol = gone
	}
	return g
}

// readReady waits until the connection has bytes, and only then takes a buffer to read them into: a flow that waits holds no
// buffer. It returns io.EOF at the end of the client's direction.
func readReady(c *net.TCPConn) ([]byte, error) {
	rc, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var got []byte
	var readErr error
	err = rc.Read(func(fd uintptr) bool {
		b := buffers.get()
		defer buffers.put(b)
		n, err := ignoringEINTR(func() (int, error) { return unix.Read(int(fd), *b) })
		switch {
		case err == unix.EAGAIN:
			return false
		case err != nil:
			readErr = os.NewSyscallError("read", err)
		case n == 0:
			readErr = io.EOF
		default:
			got = bytes.Clone((*b)[:n])
		}
		return true
	})
	return got, errors.Join(err, readErr)
}

// ignoringEINTR repeats a system call that a signal interrupted.
func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// waitReadable waits until the connection has bytes or its peer has ended it, and reads nothing.
func waitReadable(c *net.TCPConn) error {
	rc, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peekErr error
	err = rc.Read(func(fd uintptr) bool {
		var b [1]byte
		_, err := ignoringEINTR(func() (int, error) {
			n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK)
			return n, err
		})
		peekErr = err
		return err != unix.EAGAIN
	})
	return errors.Join(err, peekErr)
}

// Marks of a PROXY protocol header (haproxy's proxy-protocol.txt, sections 2.1 and 2.2). Before a ClientHello or a request it would hide the
// name from the wire and not from a server that takes such headers, so it is refused.
var (
	proxyHeader1 = []byte("PROXY ")
	proxyHeader2 = []byte("\r\n\r\n\x00\r\nQUIT\n")
)

// A TLS record begins with its type, of which a handshake is one, and a version that begins with 3 (RFC 8446, section 5.1). A server may
// pass over records of another type that come before the ClientHello, so such a beginning is none that a client means well by.
const (
	recordFirst     = 0x14
	recordHandshake = 0x16
	recordLast      = 0x17
	recordMajor     = 0x03
)

func beginsRecord(b byte) bool { return recordFirst <= b && b <= recordLast }

// lineSpace is what servers pass over before a request's first line.
const lineSpace = "\r\n\t\v\f "

// classify tells what first bytes are, or unread where more are needed.
func classify(b []byte) protocol {
	switch {
	case len(b) == 0:
		return unread
	case beginsRecord(b[0]) && len(b) == 1:
		return unread
	case b[0] == recordHandshake && b[1] == recordMajor:
		return tlsHello
	case b[0] == recordHandshake, beginsRecord(b[0]) && b[1] == recordMajor:
		return malformed
	case bytes.HasPrefix(b, proxyHeader2):
		return malformed
	case len(b) < len(proxyHeader2) && bytes.HasPrefix(proxyHeader2, b):
		return unread // CR and LF alone so far: a header, or the empty lines that HTTP servers pass over
	}
	line := bytes.TrimLeft(b, lineSpace)
	if bytes.HasPrefix(line, proxyHeader1) {
		return malformed
	}
	return classifyLine(line)
}

// classifyLine tells whether a first line is that of an HTTP request: a method, a space, a target and a version, as leniently as any
// server reads it (RFC 9112, section 3). Bytes that can't begin such a line are raw at once.
func classifyLine(b []byte) protocol {
	line, _, whole := bytes.Cut(b, []byte("\n"))
	if whole {
		if startsWithMethod(line) && (bytes.Contains(bytes.ToUpper(line), []byte("HTTP/")) || bytes.Contains(line, []byte("://"))) {
			return httpText // without a version it is HTTP/0.9, which names a host only by an absolute target
		}
		return raw
	}
	switch {
	case len(line) == 0:
		return unread
	case beginsKnownMethod(line):
		return unread
	case startsWithMethod(line):
		return rawLine
	}
	return raw
}

// startsWithMethod reports whether a line begins with a token (RFC 9110, section 5.6.2), and after it, if there is more, white space.
func startsWithMethod(line []byte) bool {
	for i, c := range line {
		switch {
		case c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r':
			return i > 0
		case !isToken(c):
			return false
		}
	}
	return true
}

func isToken(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0
}

// knownMethods are the methods whose unfinished line is waited for. Any other unfinished line is carried as it comes, and watched.
var knownMethods = [][]byte{
	[]byte("GET "), []byte("HEAD "), []byte("POST "), []byte("PUT "), []byte("PATCH "), []byte("DELETE "), []byte("OPTIONS "),
	[]byte("CONNECT "), []byte("TRACE "), []byte("PRI "), []byte("PROPFIND "), []byte("REPORT "), []byte("MKCOL "), []byte("COPY "), []byte("MOVE "),
}

func beginsKnownMethod(line []byte) bool {
	for _, m := range knownMethods {
		if bytes.HasPrefix(line, m) || bytes.HasPrefix(m, line) {
			return true
		}
	}
	return false
}
