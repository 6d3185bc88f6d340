package sandbox

import (
	"bytes"
	"path/filepath"
	"slices"

	"lnk/netns"
	"lnk/proxy"
	"lnk/settings"
)

// A refused TLS call is answered in words under a certificate of the sandbox's own authority (see package proxy). So that
// the program believes that answer, and shows it, the authority is added to the bundles of authorities that the program
// sees. Its key stays in this process, and an allowed call never meets it.

// bundles are the files in which machines keep the authorities that they trust (the list of crypto/x509, root_linux.go).
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Arch
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora, RHEL
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // CentOS, RHEL 7
	"/etc/ssl/cert.pem",                                 // Alpine
}

// Variables that name a program's bundle in place of the machine's. The first three are set to the machine's bundle where
// the caller hasn't set them: OpenSSL's own default on Debian is a folder of single files, Node's and Python's requests
// bring a list with them.
var (
	bundleVariables = []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
		"CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE", "PIP_CERT", "DENO_CERT", "CARGO_HTTP_CAINFO", "NIX_SSL_CERT_FILE"}
	setVariables = bundleVariables[:3]
)

// maxBundle is far more than all authorities there are.
const maxBundle = 4 << 20

// trust is what a room holds so that the authority is believed in it: bundles with its certificate behind their own, and
// variables that name one. A machine without a bundle gets neither; a refusal is then a certificate that nobody knows.
func trust(a *proxy.Authority, env []string) ([]netns.File, []string) {
	var files []netns.File
	machines := ""
	for _, path := range append(slices.Clone(bundles), named(env)...) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !filepath.IsAbs(real) || slices.ContainsFunc(files, func(f netns.File) bool { return f.Path == real }) {
			continue
		}
		data, err := settings.ReadFile(real, maxBundle)
		if err != nil || !bytes.Contains(data, []byte("-----BEGIN CERTIFICATE-----")) {
			continue // what the program can't use as it is, it won't use with more in it
		}
		if machines == "" && slices.Contains(bundles, path) {
			machines = path
		}
		files = append(files, netns.File{Path: real, Data: append(append(bytes.TrimRight(data, "\n"), '\n'), a.PEM()...)})
	}
	if machines == "" {
		return files, env
	}
	for _, v := range setVariables {
		if !has(env, v) {
			env = append(env, v+"="+machines)
		}
	}
	return files, env
}

// named are the bundles that the caller's environment names.
func named(env []string) (paths []string) {
	for _, entry := range env {
		if name := variable(entry); slices.Contains(bundleVariables, name) {
			paths = append(paths, entry[len(name)+1:])
		}
	}
	return paths
}
