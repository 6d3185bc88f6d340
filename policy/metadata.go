package policy

import "net/netip"

// MetadataService is an address at which a cloud hands its machines their credentials or their own description.
type MetadataService struct {
	Addr   netip.Addr
	Cloud  string
	Source string // the documentation that names it
}

// Metadata finds the metadata service at a, after Unwrap.
func Metadata(a netip.Addr) (MetadataService, bool) { return MetadataService{}, false }

// MetadataName finds the metadata service called n.
func MetadataName(n Name) (MetadataService, bool) { return MetadataService{}, false }
