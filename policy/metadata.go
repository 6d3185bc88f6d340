package policy

import "net/netip"

// MetadataService is an address at which a cloud hands its machines their credentials or their own description, or a
// service beside it that answers nobody else. No rule allows a call to one.
type MetadataService struct {
	Addr   netip.Addr
	Cloud  string
	Source string // the documentation that names it
}

// Metadata finds the metadata service at a, after Unwrap.
func Metadata(a netip.Addr) (MetadataService, bool) {
	s, ok := metadataByAddr[Unwrap(a)]
	return s, ok
}

// MetadataName finds the metadata service called n.
func MetadataName(n Name) (MetadataService, bool) {
	s, ok := metadataByName[n]
	return s, ok
}

// metadataServices is the list. An address that several clouds use stands once, under the one that had it first.
var metadataServices = []struct{ addr, cloud, source string }{
	{"169.254.169.254", "AWS, Google Cloud, Azure, OpenStack and others", "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html"},
	{"fd00:ec2::254", "AWS", "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html"},
	{"169.254.170.2", "AWS ECS", "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint.html"},
	{"169.254.170.23", "AWS EKS Pod Identity", "https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html"},
	{"fd00:ec2::23", "AWS EKS Pod Identity", "https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html"},
	{"169.254.169.253", "AWS resolver", "https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html"},
	{"fd00:ec2::253", "AWS resolver", "https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html"},
	{"169.254.169.123", "AWS time", "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configure-ec2-ntp.html"},
	{"fd00:ec2::123", "AWS time", "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configure-ec2-ntp.html"},
	{"fd20:ce::254", "Google Cloud", "https://cloud.google.com/compute/docs/metadata/querying-metadata"},
	{"169.254.169.252", "Google Kubernetes Engine", "https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity"},
	{"168.63.129.16", "Azure WireServer", "https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16"},
	{"100.100.100.200", "Alibaba Cloud", "https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata"},
	{"fd00:100::100:200", "Alibaba Cloud", "https://github.com/canonical/cloud-init: tests/unittests/sources/test_aliyun.py"},
	{"192.0.0.192", "Oracle Cloud at Customer and Classic", "https://docs.oracle.com/en/cloud/cloud-at-customer/occ-get-started/retrieve-predefined-instance-metadata.html"},
	{"fd00:c1::a9fe:a9fe", "Oracle Cloud", "https://docs.oracle.com/en-us/iaas/Content/Compute/Tasks/gettingmetadata.htm"},
	{"169.254.0.23", "Tencent Cloud", "https://www.tencentcloud.com/document/product/213/4934"},
	{"169.254.42.42", "Scaleway", "https://docs.cloud-init.io/en/latest/reference/datasources/scaleway.html"},
	{"fd00:42::42", "Scaleway", "https://docs.cloud-init.io/en/latest/reference/datasources/scaleway.html"},
	{"fd00:a9fe:a9fe::1", "Akamai (Linode)", "https://docs.cloud-init.io/en/latest/reference/datasources/akamai.html"},
	{"fe80::a9fe:a9fe", "OpenStack", "https://docs.openstack.org/nova/latest/admin/metadata-service.html"},
	{"100.96.0.96", "Volcano Engine", "https://github.com/volcengine/cello: pkg/provider/volcengine/credential"},
}

// metadataNames are the names that a cloud's own resolver, and nobody else, gives such an address.
var metadataNames = []struct{ name, addr, source string }{
	{"metadata.google.internal", "169.254.169.254", "https://cloud.google.com/compute/docs/metadata/querying-metadata"},
	{"metadata.goog", "169.254.169.254", "https://cloud.google.com/compute/docs/metadata/querying-metadata"},
	{"metadata", "169.254.169.254", "https://cloud.google.com/compute/docs/metadata/querying-metadata (with Google's search list)"},
	{"instance-data.ec2.internal", "169.254.169.254", "https://docs.aws.amazon.com/vpc/latest/userguide/AmazonDNS-concepts.html (ec2.internal is AWS's own)"},
	{"instance-data", "169.254.169.254", "the same with AWS's search list"},
	{"metadata.tencentyun.com", "169.254.0.23", "https://www.tencentcloud.com/document/product/213/4934"},
	{"api.metadata.cloud.ibm.com", "169.254.169.254", "https://cloud.ibm.com/apidocs/vpc-metadata"},
}

var metadataByAddr, metadataByName = indexMetadata()

func indexMetadata() (map[netip.Addr]MetadataService, map[Name]MetadataService) {
	byAddr := make(map[netip.Addr]MetadataService, len(metadataServices))
	for _, s := range metadataServices {
		a := netip.MustParseAddr(s.addr)
		byAddr[a] = MetadataService{a, s.cloud, s.source}
	}
	byName := make(map[Name]MetadataService, len(metadataNames))
	for _, s := range metadataNames {
		a := netip.MustParseAddr(s.addr)
		byName[mustName(s.name)] = MetadataService{a, byAddr[a].Cloud, s.source}
	}
	return byAddr, byName
}

// mustName is for names that stand in this package.
func mustName(s string) Name {
	n, err := ParseName(s)
	if err != nil {
		panic(err)
	}
	return n
}
