package policy

import (
	"net/url"
	"strings"
	"testing"
)

// clouds are the metadata services that must be known whatever the list in the code says.
var clouds = []string{
	"169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.169.253", "168.63.129.16", "100.100.100.200", "192.0.0.192",
	"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
}

func TestMetadataServicesAreKnownInEveryForm(t *testing.T) {
	for _, s := range clouds {
		a := addr(s)
		forms := map[string]bool{s: true}
		if a.Is4() {
			for _, w := range wrap(a) {
				forms[w.String()] = true
			}
		}
		for form := range forms {
			found, ok := Metadata(addr(form))
			if !ok || found.Addr != a {
				t.Errorf("%s, as %s: %+v, %v", s, form, found, ok)
			}
			if got := Classify(addr(form)); got != ClassMetadata {
				t.Errorf("%s, as %s, is %s", s, form, got)
			}
		}
	}
}

func TestMetadataNamesAreKnownInEverySpelling(t *testing.T) {
	for _, s := range []string{"metadata.google.internal", "METADATA.google.internal.", "metadata", "Metadata.", "instance-data.ec2.internal", "metadata。google。internal"} {
		if found, ok := MetadataName(mustName(s)); !ok || !found.Addr.IsValid() || found.Cloud == "" {
			t.Errorf("%s: %+v, %v", s, found, ok)
		}
	}
	for _, s := range []string{"google.internal", "a.metadata.google.internal", "metadata.test", "instance-data.test"} {
		if _, ok := MetadataName(mustName(s)); ok {
			t.Errorf("%s is taken for a metadata service", s)
		}
	}
	if _, ok := MetadataName(Name{}); ok {
		t.Error("the zero name is a metadata service")
	}
}

func TestEachMetadataServiceStandsOnceWithItsSource(t *testing.T) {
	if len(metadataByAddr) != len(metadataServices) || len(metadataByName) != len(metadataNames) {
		t.Error("one stands twice")
	}
	for a, s := range metadataByAddr {
		if s.Addr != a || s.Cloud == "" || Unwrap(a) != a {
			t.Errorf("%s: %+v", a, s)
		}
		if u, err := url.Parse(strings.Fields(s.Source)[0]); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%s has no source: %q", a, s.Source)
		}
	}
	for n, s := range metadataByName {
		if _, ok := metadataByAddr[s.Addr]; !ok || s.Source == "" {
			t.Errorf("%s: %+v", n, s)
		}
	}
}
