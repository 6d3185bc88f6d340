package internet

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"net/netip"
	"strconv"
	"time"
)

// Request is one HTTP request that reached a web server.
type Request struct {
	Method, Host, Path, Proto string
	SNI                       string // empty for plain HTTP
	Header                    http.Header
}

// Requests are the requests that came since the world was given to this test.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// site serves HTTPS, h2 included, on port 443 of the addresses, and in the clear,
// h2 with prior knowledge included, on 80 and 8080.
func (w *World) site(s *Server, name string, extra map[string]http.Handler, addrs ...netip.Addr) error {
	mux := pages()
	for path, h := range extra {
		mux.Handle(path, h)
	}
	quiet := log.New(io.Discard, "", 0)
	plain := &http.Server{Handler: s.noting(mux), ErrorLog: quiet, Protocols: new(http.Protocols)}
	plain.Protocols.SetHTTP1(true)
	plain.Protocols.SetUnencryptedHTTP2(true)
	secure := &http.Server{Handler: s.noting(mux), ErrorLog: quiet, TLSConfig: w.Authority.serving(name)}
	for _, port := range []uint16{80, 443, 8080} {
		listeners, err := s.listen(port, addrs...)
		if err != nil {
			return err
		}
		for _, l := range listeners {
			if port == 443 {
				go secure.ServeTLS(l, "", "")
			} else {
				go plain.Serve(l)
			}
		}
	}
	return nil
}

// noting writes each request in the record before it is answered.
func (s *Server) noting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := Request{Method: r.Method, Host: r.Host, Path: r.URL.RequestURI(), Proto: r.Proto, Header: r.Header.Clone()}
		if r.TLS != nil {
			req.SNI = r.TLS.ServerName
		}
		s.update(func() { s.requests = append(s.requests, req) })
		next.ServeHTTP(w, r)
	})
}

// pages are what every web server of the internet offers:
//
//	/             "hello from HOST", or of a body that was sent, its length and SHA-256
//	/echo         the request's headers, as JSON
//	/bytes/N      N bytes of Stream; ?every=D&chunk=N sends a chunk each D
//	/late/D       answers after D
//	/early        answers 413 without reading the body, and closes
//	/status/N     that status
//	/to?url=U     a redirect to U
func pages() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			fmt.Fprintf(w, "hello from %s\n", hostOf(r))
			return
		}
		sum := sha256.New()
		n, _ := io.Copy(sum, r.Body)
		fmt.Fprintf(w, "%d bytes, sha256 %x\n", n, sum.Sum(nil))
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(r.Header)
	})
	mux.HandleFunc("/bytes/{n}", sendBytes)
	mux.HandleFunc("/late/{d}", func(w http.ResponseWriter, r *http.Request) {
		d, _ := time.ParseDuration(r.PathValue("d"))
		select {
		case <-time.After(d):
			fmt.Fprintf(w, "hello from %s, after %s\n", hostOf(r), d)
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/early", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		http.Error(w, "too much", http.StatusRequestEntityTooLarge)
	})
	mux.HandleFunc("/status/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		w.WriteHeader(max(n, 200))
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("url"), http.StatusFound)
	})
	return mux
}

// hostOf is the host that a request names, without its port.
func hostOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		return r.Host
	}
	return host
}

func sendBytes(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseInt(r.PathValue("n"), 10, 64)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
	w.Header().Set("Content-Type", "application/octet-stream")
	every, _ := time.ParseDuration(r.URL.Query().Get("every"))
	if every <= 0 {
		io.Copy(w, NewStream(n))
		return
	}
	chunk, _ := strconv.ParseInt(r.URL.Query().Get("chunk"), 10, 64)
	drip(w, r, NewStream(n), max(chunk, 1), every)
}

// drip sends a chunk at each tick until the stream or the request ends.
func drip(w http.ResponseWriter, r *http.Request, stream io.Reader, chunk int64, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		n, err := io.CopyN(w, stream, chunk)
		if n == 0 || err != nil {
			return
		}
		http.NewResponseController(w).Flush()
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// Stream is a stream of bytes in which every block of 64 KB differs from every other, so that a lost, doubled or
// swapped part changes its sum.
type Stream struct {
	block [64 << 10]byte
	at    int64
	left  int64
}

// NewStream makes a stream of n bytes.
func NewStream(n int64) *Stream {
	s := &Stream{left: n}
	for i := range s.block {
		s.block[i] = byte(i*7 + i>>8)
	}
	return s
}

func (s *Stream) Read(b []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	off := s.at % int64(len(s.block))
	if off == 0 {
		binary.BigEndian.PutUint64(s.block[:], uint64(s.at))
	}
	n := copy(b[:min(int64(len(b)), s.left)], s.block[off:])
	s.at, s.left = s.at+int64(n), s.left-int64(n)
	return n, nil
}

// StreamSum is the SHA-256, in hexadecimal, of a stream of n bytes.
func StreamSum(n int64) string { return sum(sha256.New(), NewStream(n)) }

func sum(h hash.Hash, r io.Reader) string {
	io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil))
}

// gitOverHTTP serves the git repositories below dir.
func gitOverHTTP(backend, dir string) http.Handler {
	return &cgi.Handler{Path: backend, Root: "/", Env: []string{
		"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}, Stderr: io.Discard}
}
