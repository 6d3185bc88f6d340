package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lnk/proxy"
)

const aBundle = "-----BEGIN CERTIFICATE-----\nthe machine's own\n-----END CERTIFICATE-----"

func TestTrust(t *testing.T) {
	authority, err := proxy.NewAuthority("build")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	machines := filepath.Join(folder, "machines.crt")
	put(t, machines, aBundle)
	named := filepath.Join(folder, "named.pem")
	put(t, named, aBundle+"\n")
	other := filepath.Join(folder, "other.pem")
	put(t, other, "no certificate")
	link(t, machines, filepath.Join(folder, "link.crt"))
	before := bundles
	t.Cleanup(func() { bundles = before })

	tests := map[string]struct {
		bundles []string
		env     []string
		files   []string
		vars    map[string]string
	}{
		"the machine's bundle holds the authority too, and the usual variables name it": {
			[]string{"/nowhere", machines}, nil, []string{machines},
			map[string]string{"SSL_CERT_FILE": machines, "NODE_EXTRA_CA_CERTS": machines, "REQUESTS_CA_BUNDLE": machines}},
		"two names of one file are one": {
			[]string{machines, filepath.Join(folder, "link.crt")}, nil, []string{machines},
			map[string]string{"SSL_CERT_FILE": machines}},
		"a bundle that the caller named holds it as well, and stays named": {
			[]string{machines}, []string{"SSL_CERT_FILE=" + named}, []string{machines, named},
			map[string]string{"SSL_CERT_FILE": named, "NODE_EXTRA_CA_CERTS": machines}},
		"what is no bundle stays as it is": {
			[]string{machines}, []string{"AWS_CA_BUNDLE=" + other, "PIP_CERT=/nowhere", "SSL_CERT_FILE="}, []string{machines},
			map[string]string{"AWS_CA_BUNDLE": other, "PIP_CERT": "/nowhere", "SSL_CERT_FILE": ""}},
		"a machine without a bundle gets no variables": {
			[]string{"/nowhere"}, []string{"A=1"}, nil, map[string]string{"A": "1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bundles = tt.bundles
			files, env := trust(authority, slices.Clone(tt.env))
			var paths []string
			for _, f := range files {
				paths = append(paths, f.Path)
				if !bytes.HasPrefix(f.Data, []byte(aBundle+"\n")) || !bytes.HasSuffix(f.Data, authority.PEM()) {
					t.Errorf("%s holds %q", f.Path, f.Data)
				}
			}
			if !slices.Equal(paths, tt.files) {
				t.Errorf("files %q, want %q", paths, tt.files)
			}
			for v, want := range tt.vars {
				if !slices.Contains(env, v+"="+want) {
					t.Errorf("%s isn't %q: %q", v, want, env)
				}
			}
			if len(tt.files) == 0 && len(env) != len(tt.env) {
				t.Errorf("environment %q", env)
			}
		})
	}
}

func TestTrustHandsOutNoKey(t *testing.T) {
	authority, err := proxy.NewAuthority("build")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(authority.PEM()), "KEY") {
		t.Error("what goes into the room holds a key")
	}
	if _, err := os.Stat(bundles[0]); err != nil {
		t.Fatal("this machine has no bundle to try it with (Debian: ca-certificates)")
	}
	files, _ := trust(authority, nil)
	if len(files) == 0 || !bytes.HasSuffix(files[0].Data, authority.PEM()) {
		t.Errorf("%d files", len(files))
	}
}
