package policy

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// verdict is what a table expects: allowed by a rule, or refused for a reason.
type verdict struct {
	rule   string
	why    Reason
	asName string // Decision.Name
}

func by(rule, asName string) verdict { return verdict{rule: rule, asName: asName} }
func no(why Reason) verdict          { return verdict{why: why} }

func (v verdict) check(t *testing.T, d Decision) {
	t.Helper()
	if d.Allowed != (v.why == "") || d.Reason != v.why || d.Rule != v.rule || d.Name.String() != v.asName {
		t.Errorf("%+v; want allowed by %q as %q, or refused for %q", d, v.rule, v.asName, v.why)
	}
	if d.Allowed == (d.Reason != "") {
		t.Errorf("%+v: a reason and a verdict that don't agree", d)
	}
}

func names(list ...string) []Name {
	var out []Name
	for _, s := range list {
		out = append(out, mustName(s))
	}
	return out
}

func TestLookup(t *testing.T) {
	r := rules(t, ModeEndpoints, []string{"allowed.test:5432", "*.good.test", "db:5432", "bücher.test", "203.0.113.0/24", "localhost:80", "metadata", "a.invalid"})
	open := rules(t, ModeOpen, []string{"db.corp:5432"})
	for sentence, c := range map[string]struct {
		rules Rules
		name  string
		want  verdict
	}{
		"a name that an endpoint names, whatever its port":      {r, "allowed.test", by("allowed.test:5432", "allowed.test")},
		"a name in another spelling":                            {r, "ALLOWED。test.", by("allowed.test:5432", "allowed.test")},
		"a name in another script":                              {r, "BÜCHER.test", by("xn--bcher-kva.test", "xn--bcher-kva.test")},
		"a name one label below a wildcard's":                   {r, "a.good.test", by("*.good.test", "a.good.test")},
		"a name some labels below a wildcard's":                 {r, "a.b.good.test", by("*.good.test", "a.b.good.test")},
		"a wildcard's own name":                                 {r, "good.test", no(ReasonNameNotAllowed)},
		"a name that only ends like a wildcard's":               {r, "evilgood.test", no(ReasonNameNotAllowed)},
		"a name that only begins like a wildcard's":             {r, "a.good.test.evil.test", no(ReasonNameNotAllowed)},
		"a single label that is named":                          {r, "db", by("db:5432", "db")},
		"a single label that isn't":                             {r, "printer", no(ReasonNameNotAllowed)},
		"a service of a name":                                   {r, "_postgresql._tcp.allowed.test", by("allowed.test:5432", "_postgresql._tcp.allowed.test")},
		"an HTTPS record of a port":                             {r, "_8443._https.allowed.test", by("allowed.test:5432", "_8443._https.allowed.test")},
		"a service of a name that isn't allowed":                {r, "_postgresql._tcp.denied.test", no(ReasonNameNotAllowed)},
		"too many service labels":                               {r, "_a._b._c.allowed.test", no(ReasonNameNotAllowed)},
		"something carried out in a service label":              {r, "_" + strings.Repeat("a", 50) + ".allowed.test", no(ReasonNameNotAllowed)},
		"a name below an exact one":                             {r, "x.allowed.test", no(ReasonNameNotAllowed)},
		"a name two labels below an exact one":                  {r, "x.y.allowed.test", no(ReasonNameNotAllowed)},
		"a service of a name below an exact one":                {r, "_a.y.allowed.test", no(ReasonNameNotAllowed)},
		"a name above":                                          {r, "test", no(ReasonNameNotAllowed)},
		"a reverse name in a network that is named":             {r, "66.113.0.203.in-addr.arpa", no(ReasonNameNotAllowed)},
		"localhost, though it is named":                         {r, "localhost", no(ReasonFixedName)},
		"a metadata service, though it is named":                {r, "metadata", no(ReasonMetadata)},
		"a name of .invalid, though it is named":                {r, "a.invalid", no(ReasonFixedName)},
		"the machine":                                           {r, "host.lnk.internal", no(ReasonFixedName)},
		"open: any name":                                        {open, "denied.test", by(`mode "open"`, "denied.test")},
		"open: a single label":                                  {open, "com", by(`mode "open"`, "com")},
		"open: a name that is named as well":                    {open, "db.corp", by("db.corp:5432", "db.corp")},
		"open: a metadata service":                              {open, "metadata.google.internal", no(ReasonMetadata)},
		"open: another one":                                     {open, "instance-data.ec2.internal", no(ReasonMetadata)},
		"open: a name of .invalid":                              {open, "x.invalid", no(ReasonFixedName)},
		"open: an onion":                                        {open, "x.onion", no(ReasonFixedName)},
		"open: a reverse name of a public address":              {open, "66.113.0.203.in-addr.arpa", by(`mode "open"`, "66.113.0.203.in-addr.arpa")},
		"open: a reverse name of a private address":             {open, "1.0.0.10.in-addr.arpa", no(ReasonFixedName)},
		"open: a reverse zone of private addresses":             {open, "168.192.in-addr.arpa", no(ReasonFixedName)},
		"open: the reverse name of the unique local ones":       {open, "d.f.ip6.arpa", no(ReasonFixedName)},
		"none: any name":                                        {rules(t, ModeNone, nil), "allowed.test", no(ReasonNoNetwork)},
		"host: any name":                                        {rules(t, ModeHost, nil), "allowed.test", no(ReasonHostNetwork)},
		"the zero value: any name":                              {Rules{}, "allowed.test", no(ReasonNoNetwork)},
		"endpoints, none of them":                               {rules(t, ModeEndpoints, nil), "allowed.test", no(ReasonNameNotAllowed)},
		"a .test name is an ordinary one":                       {open, "anything.test", by(`mode "open"`, "anything.test")},
		"a name with an address in it is not that address":      {open, "169-254-169-254.nip.test", by(`mode "open"`, "169-254-169-254.nip.test")},
		"a name below a metadata service's is not that service": {open, "a.metadata.google.internal", by(`mode "open"`, "a.metadata.google.internal")},
	} {
		t.Run(sentence, func(t *testing.T) { c.want.check(t, c.rules.Lookup(mustName(c.name))) })
	}
	no(ReasonMalformed).check(t, open.Lookup(Name{}))
}

func TestConnection(t *testing.T) {
	r := rules(t, ModeEndpoints, []string{
		"allowed.test", "git.test:22", "db.test:5432", "any.test:*", "*.good.test", "*.good.test:8443", "*.corp:5432", "db.corp:5432",
		"203.0.113.10:22", "198.51.100.0/24:*", "10.1.0.0/16:5432", "0.0.0.0/0:7000", "[2001:db8::/32]:443", "[2001:db8:1::5]:22",
		"169.254.169.254", "169.254.0.0/16", "224.0.0.1", "localhost:11434",
	}, 5432)
	open := rules(t, ModeOpen, []string{"db.corp:5432", "192.168.7.0/24", "*.corp"}, 5432)
	for sentence, c := range map[string]struct {
		rules Rules
		to    string
		names []string
		want  verdict
	}{
		"an address given for an allowed name, HTTPS":               {r, "203.0.113.66:443", []string{"allowed.test"}, by("allowed.test", "allowed.test")},
		"an address given for an allowed name, HTTP":                {r, "203.0.113.66:80", []string{"allowed.test"}, by("allowed.test", "allowed.test")},
		"an allowed name at a port that it isn't allowed at":        {r, "203.0.113.66:8080", []string{"allowed.test"}, no(ReasonNameNotAllowed)},
		"an allowed name at any port":                               {r, "203.0.113.66:4242", []string{"any.test"}, by("any.test:*", "any.test")},
		"a name below a wildcard":                                   {r, "203.0.113.66:443", []string{"a.b.good.test"}, by("*.good.test", "a.b.good.test")},
		"a name below a wildcard, at the port of another":           {r, "203.0.113.66:8443", []string{"a.good.test"}, by("*.good.test:8443", "a.good.test")},
		"a wildcard's own name":                                     {r, "203.0.113.66:443", []string{"good.test"}, no(ReasonNameNotAllowed)},
		"an address given for a refused name":                       {r, "203.0.113.66:443", []string{"denied.test"}, no(ReasonNameNotAllowed)},
		"an address given for nothing":                              {r, "203.0.113.66:443", nil, no(ReasonAddressNotAllowed)},
		"two names on one address: the one allowed at the port":     {r, "203.0.113.30:5432", []string{"git.test", "db.test"}, by("db.test:5432", "db.test")},
		"two names on one address, in the other order":              {r, "203.0.113.30:5432", []string{"db.test", "git.test"}, by("db.test:5432", "db.test")},
		"two names on one address: the other port":                  {r, "203.0.113.30:22", []string{"db.test", "git.test"}, by("git.test:22", "git.test")},
		"two names, and only the other one was looked up":           {r, "203.0.113.30:5432", []string{"git.test"}, no(ReasonNameNotAllowed)},
		"a refused name beside an allowed one isn't the call's":     {r, "203.0.113.30:5432", []string{"denied.test", "db.test"}, by("db.test:5432", "db.test")},
		"an address that is named":                                  {r, "203.0.113.10:22", nil, by("203.0.113.10:22", "")},
		"an address that is named, at another port":                 {r, "203.0.113.10:23", nil, no(ReasonAddressNotAllowed)},
		"an address that is named, given for a refused name":        {r, "203.0.113.10:22", []string{"denied.test"}, by("203.0.113.10:22", "")},
		"an address that is named, given for an allowed name":       {r, "203.0.113.10:22", []string{"git.test"}, by("git.test:22", "git.test")},
		"an address in a network":                                   {r, "198.51.100.99:9", nil, by("198.51.100.0/24:*", "")},
		"an address beside a network":                               {r, "198.51.101.99:9", nil, no(ReasonAddressNotAllowed)},
		"an IPv6 address in a network":                              {r, "[2001:db8:45::66]:443", nil, by("[2001:db8::/32]:443", "")},
		"an IPv6 address in a network, named itself":                {r, "[2001:db8:1::5]:22", nil, by("[2001:db8:1::5]:22", "")},
		"an IPv6 address, named, at the network's port":             {r, "[2001:db8:1::5]:443", nil, by("[2001:db8::/32]:443", "")},
		"an address in all of IPv4":                                 {r, "8.8.8.8:7000", nil, by("0.0.0.0/0:7000", "")},
		"an IPv6 address isn't in all of IPv4":                      {r, "[2606:4700::1]:7000", nil, no(ReasonAddressNotAllowed)},
		"a mapped address is the IPv4 address":                      {r, "[::ffff:203.0.113.10]:22", nil, by("203.0.113.10:22", "")},
		"a NAT64 address is the IPv4 address":                       {r, "[64:ff9b::cb00:710a]:22", nil, by("203.0.113.10:22", "")},
		"a mapped address that isn't named":                         {r, "[::ffff:203.0.113.66]:443", nil, no(ReasonAddressNotAllowed)},
		"a private address of an exact name":                        {r, "10.9.9.9:5432", []string{"db.corp"}, by("db.corp:5432", "db.corp")},
		"a private address of a wildcard's name":                    {r, "10.9.9.9:5432", []string{"x.corp"}, no(ReasonPrivate)},
		"a private address in a private network that is named":      {r, "10.1.2.3:5432", nil, by("10.1.0.0/16:5432", "")},
		"a private address of that network, of a wildcard's name":   {r, "10.1.2.3:5432", []string{"x.corp"}, by("10.1.0.0/16:5432", "")},
		"a private address in all of IPv4":                          {r, "10.2.2.3:7000", nil, no(ReasonAddressNotAllowed)},
		"a private address that nothing names":                      {r, "192.168.1.1:443", nil, no(ReasonAddressNotAllowed)},
		"a metadata service, though it is named":                    {r, "169.254.169.254:80", nil, no(ReasonMetadata)},
		"a metadata service, though it is an allowed name's":        {r, "169.254.169.254:443", []string{"allowed.test"}, no(ReasonMetadata)},
		"a metadata service by NAT64":                               {r, "[64:ff9b::a9fe:a9fe]:80", nil, no(ReasonMetadata)},
		"a metadata service at any port":                            {r, "168.63.129.16:32526", nil, no(ReasonMetadata)},
		"a metadata service by name, at its refusal address":        {r, "198.18.1.7:80", []string{"metadata.google.internal"}, no(ReasonMetadata)},
		"a link-local address, though its network is named":         {r, "169.254.1.1:80", nil, no(ReasonLinkLocal)},
		"a link-local address of an allowed name":                   {r, "[fe80::1]:443", []string{"allowed.test"}, no(ReasonLinkLocal)},
		"a multicast address, though it is named":                   {r, "224.0.0.1:80", nil, no(ReasonMulticast)},
		"a broadcast address":                                       {r, "255.255.255.255:7000", nil, no(ReasonBroadcast)},
		"a reserved address":                                        {r, "240.0.0.1:7000", nil, no(ReasonReserved)},
		"this machine's port that is allowed":                       {r, "198.18.0.3:5432", []string{"host.lnk.internal"}, by("localhost:5432", "")},
		"this machine's port that an endpoint names":                {r, "198.18.0.3:11434", nil, by("localhost:11434", "")},
		"this machine's port that isn't allowed":                    {r, "198.18.0.3:22", nil, no(ReasonPortNotAllowed)},
		"a loopback address is this machine's":                      {r, "127.0.0.1:5432", nil, by("localhost:5432", "")},
		"a loopback address of an allowed name":                     {r, "127.0.0.1:443", []string{"allowed.test"}, no(ReasonPortNotAllowed)},
		"the unspecified address is this machine's":                 {r, "0.0.0.0:22", nil, no(ReasonPortNotAllowed)},
		"loopback by NAT64 isn't":                                   {r, "[64:ff9b::7f00:1]:5432", nil, no(ReasonReserved)},
		"the room's name server":                                    {r, "198.18.0.2:443", nil, no(ReasonSelf)},
		"the room's own address":                                    {r, "[fd6c:6e6b::1]:5432", nil, no(ReasonSelf)},
		"the explicit proxy, at a port that it hasn't":              {r, "198.18.0.4:80", nil, no(ReasonSelf)},
		"a refusal address":                                         {r, "198.18.1.7:443", []string{"denied.test"}, no(ReasonNameNotAllowed)},
		"an IPv6 refusal address":                                   {r, "[2001:2:0:1::7]:443", []string{"denied.test"}, no(ReasonNameNotAllowed)},
		"a refusal address of a name that is allowed by now":        {r, "198.18.1.7:443", []string{"allowed.test"}, by("allowed.test", "allowed.test")},
		"a refusal address of a name below a wildcard by now":       {r, "198.18.1.7:443", []string{"a.good.test"}, by("*.good.test", "a.good.test")},
		"open: a refusal address":                                   {open, "198.18.1.7:443", []string{"denied.test"}, by(`mode "open"`, "denied.test")},
		"a refusal address of no name":                              {r, "198.18.1.7:7000", nil, no(ReasonReserved)},
		"no destination":                                            {r, "", nil, no(ReasonNoOriginal)},
		"port 0":                                                    {r, "203.0.113.66:0", []string{"any.test"}, no(ReasonNoOriginal)},
		"open: an address":                                          {open, "203.0.113.66:443", nil, by(`mode "open"`, "")},
		"open: an address of a name":                                {open, "203.0.113.66:443", []string{"denied.test"}, by(`mode "open"`, "denied.test")},
		"open: an address of names, one of them named":              {open, "203.0.113.66:5432", []string{"denied.test", "db.corp"}, by("db.corp:5432", "db.corp")},
		"open: a wrapped address":                                   {open, "[64:ff9b::cb00:7142]:443", nil, by(`mode "open"`, "")},
		"open: a private address":                                   {open, "10.0.0.1:80", nil, no(ReasonPrivate)},
		"open: a private address of a name":                         {open, "10.0.0.1:80", []string{"rb.test"}, no(ReasonPrivate)},
		"open: a private address of a wildcard's name":              {open, "10.0.0.1:80", []string{"x.corp"}, no(ReasonPrivate)},
		"open: a private address of an exact name":                  {open, "10.0.0.1:5432", []string{"db.corp"}, by("db.corp:5432", "db.corp")},
		"open: a private address of an exact name, at another port": {open, "10.0.0.1:80", []string{"db.corp"}, no(ReasonPrivate)},
		"open: a private network that is named":                     {open, "192.168.7.1:443", nil, by("192.168.7.0/24", "")},
		"open: a shared address":                                    {open, "100.64.0.1:80", nil, no(ReasonPrivate)},
		"open: a private address by 6to4":                           {open, "[2002:c0a8:101::1]:80", nil, no(ReasonPrivate)},
		"open: a metadata service among the shared addresses":       {open, "100.100.100.200:80", nil, no(ReasonMetadata)},
		"open: a metadata service by an innocent name":              {open, "169.254.169.254:80", []string{"meta1.test"}, no(ReasonMetadata)},
		"open: this machine's port":                                 {open, "198.18.0.3:5432", nil, by("localhost:5432", "")},
		"open: this machine's other port":                           {open, "198.18.0.3:22", nil, no(ReasonPortNotAllowed)},
		"open: a reserved address":                                  {open, "192.0.0.1:80", nil, no(ReasonReserved)},
		"open: a documentation address":                             {open, "[2001:db8::1]:80", nil, by(`mode "open"`, "")},
		"none: an address":                                          {rules(t, ModeNone, nil), "203.0.113.66:443", nil, no(ReasonNoNetwork)},
		"host: an address":                                          {rules(t, ModeHost, nil), "203.0.113.66:443", nil, no(ReasonHostNetwork)},
		"the zero value":                                            {Rules{}, "203.0.113.66:443", []string{"allowed.test"}, no(ReasonNoNetwork)},
	} {
		t.Run(sentence, func(t *testing.T) {
			var to netip.AddrPort
			if c.to != "" {
				to = netip.MustParseAddrPort(c.to)
			}
			c.want.check(t, c.rules.Connection(to, names(c.names...)))
		})
	}
	no(ReasonNameNotAllowed).check(t, r.Connection(netip.MustParseAddrPort("203.0.113.66:443"), []Name{{}}))
}

func TestShown(t *testing.T) {
	r := rules(t, ModeEndpoints, []string{
		"allowed.test", "*.good.test:443", "203.0.113.10", "10.1.0.0/16", "169.254.169.254", "metadata.google.internal", "bücher.test", "a.invalid",
	}, 5432)
	open := rules(t, ModeOpen, nil, 5432)
	for sentence, c := range map[string]struct {
		rules Rules
		shown string
		port  uint16
		want  verdict
	}{
		"an allowed name":                               {r, "allowed.test", 443, by("allowed.test", "allowed.test")},
		"an allowed name in another spelling":           {r, "Allowed。TEST.", 80, by("allowed.test", "allowed.test")},
		"an allowed name, escaped":                      {r, "allowed%2Etest", 80, by("allowed.test", "allowed.test")},
		"an allowed name in another script":             {r, "Bücher.test", 443, by("xn--bcher-kva.test", "xn--bcher-kva.test")},
		"an allowed name at another port":               {r, "allowed.test", 8443, no(ReasonShownNotAllowed)},
		"a refused name":                                {r, "denied.test", 443, no(ReasonShownNotAllowed)},
		"a name below a wildcard":                       {r, "a.b.good.test", 443, by("*.good.test:443", "a.b.good.test")},
		"a name below a wildcard at another port":       {r, "a.good.test", 80, no(ReasonShownNotAllowed)},
		"an address that is named":                      {r, "203.0.113.10", 443, by("203.0.113.10", "")},
		"an address that is named, in another spelling": {r, "0xcb00710a", 443, by("203.0.113.10", "")},
		"an address that isn't named":                   {r, "203.0.113.66", 443, no(ReasonAddressNotAllowed)},
		"a private address of a network that is named":  {r, "10.1.2.3", 80, by("10.1.0.0/16", "")},
		"a private address":                             {r, "10.2.2.3", 80, no(ReasonAddressNotAllowed)},
		"a metadata service, though it is named":        {r, "169.254.169.254", 80, no(ReasonMetadata)},
		"a metadata service's number":                   {r, "2852039166", 80, no(ReasonMetadata)},
		"a metadata service's name, though named":       {r, "METADATA.google.internal.", 80, no(ReasonMetadata)},
		"a name of .invalid, though it is named":        {r, "a.invalid", 80, no(ReasonFixedName)},
		"a link-local address":                          {r, "[fe80::1%25eth0]", 80, no(ReasonLinkLocal)},
		"localhost at an allowed port":                  {r, "localhost", 5432, by("localhost:5432", "")},
		"localhost at another port":                     {r, "localhost", 443, no(ReasonPortNotAllowed)},
		"a name below localhost":                        {r, "app.localhost", 5432, by("localhost:5432", "")},
		"loopback at an allowed port":                   {r, "127.0.0.1", 5432, by("localhost:5432", "")},
		"short loopback at another port":                {r, "127.1", 80, no(ReasonPortNotAllowed)},
		"IPv6 loopback at an allowed port":              {r, "[::1]", 5432, by("localhost:5432", "")},
		"the machine by its name in the room":           {r, "host.lnk.internal", 5432, by("localhost:5432", "")},
		"the machine by its address in the room":        {r, "198.18.0.3", 5432, by("localhost:5432", "")},
		"the proxy itself":                              {r, "proxy.lnk.internal", 3128, no(ReasonSelf)},
		"the proxy itself by address":                   {r, "198.18.0.4", 3128, no(ReasonSelf)},
		"open: any name":                                {open, "denied.test", 4242, by(`mode "open"`, "denied.test")},
		"open: an address":                              {open, "203.0.113.66", 443, by(`mode "open"`, "")},
		"open: a private address":                       {open, "192.168.1.1", 443, no(ReasonPrivate)},
		"open: a metadata service":                      {open, "[::ffff:a9fe:a9fe]", 80, no(ReasonMetadata)},
		"open: this machine":                            {open, "localhost", 80, no(ReasonPortNotAllowed)},
		"port 0":                                        {open, "allowed.test", 0, no(ReasonMalformed)},
		"none: any name":                                {rules(t, ModeNone, nil), "allowed.test", 443, no(ReasonNoNetwork)},
		"the zero value":                                {Rules{}, "allowed.test", 443, no(ReasonNoNetwork)},
	} {
		t.Run(sentence, func(t *testing.T) { c.want.check(t, c.rules.Shown(host(t, c.shown), c.port)) })
	}
	no(ReasonMalformed).check(t, open.Shown(Host{}, 443))
}

func TestCanShow(t *testing.T) {
	for sentence, c := range map[string]struct {
		rules Rules
		port  uint16
		want  bool
	}{
		"a name without a port, at 443":      {rules(t, ModeEndpoints, []string{"allowed.test"}), 443, true},
		"a name without a port, at 22":       {rules(t, ModeEndpoints, []string{"allowed.test"}), 22, false},
		"a name with a port, at it":          {rules(t, ModeEndpoints, []string{"allowed.test:22"}), 22, true},
		"a name with a port, at 443":         {rules(t, ModeEndpoints, []string{"allowed.test:22"}), 443, false},
		"a wildcard with any port":           {rules(t, ModeEndpoints, []string{"*.good.test:*"}), 4242, true},
		"addresses and ports show no name":   {rules(t, ModeEndpoints, []string{"203.0.113.0/24:*", "localhost:80"}, 443), 443, false},
		"open":                               {rules(t, ModeOpen, nil), 4242, true},
		"none":                               {rules(t, ModeNone, nil), 443, false},
		"the zero value":                     {Rules{}, 443, false},
		"port 0, though a name has any port": {rules(t, ModeEndpoints, []string{"*.good.test:*"}), 0, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := c.rules.CanShow(c.port); got != c.want {
				t.Errorf("CanShow(%d) = %v", c.port, got)
			}
		})
	}
}

func TestPorts(t *testing.T) {
	r := rules(t, ModeEndpoints, []string{"localhost:11434", "[::1]:5432", "host.docker.internal", "allowed.test:22", "127.0.0.1:11434"}, 5432, 8000, 8000)
	if got, want := r.Ports(), []uint16{80, 443, 5432, 8000, 11434}; !slices.Equal(got, want) {
		t.Errorf("ports %v, want %v", got, want)
	}
	by("localhost:11434", "").check(t, r.Port(11434))
	by("[::1]:5432", "").check(t, r.Port(5432))
	by("host.docker.internal", "").check(t, r.Port(80))
	by("localhost:8000", "").check(t, r.Port(8000))
	no(ReasonPortNotAllowed).check(t, r.Port(22))
	no(ReasonPortNotAllowed).check(t, r.Port(0))
	no(ReasonNoNetwork).check(t, Rules{}.Port(80))
	no(ReasonHostNetwork).check(t, rules(t, ModeHost, nil).Port(80))
}

func TestAddress(t *testing.T) {
	r := rules(t, ModeEndpoints, []string{
		"rb.test", "db.corp:5432", "*.corp", "*.corp:5432", "192.168.7.5:80", "10.1.0.0/16:80", "0.0.0.0/0:7000", "203.0.113.10", "169.254.169.254", "[fd00::/8]:80",
	}, 5432)
	open := rules(t, ModeOpen, []string{"db.corp:5432"}, 5432)
	local := func(a netip.Addr) bool {
		return a == addr("192.168.1.5") || a == addr("203.0.113.200") || a == addr("2002:cb00:7101::5")
	}
	for sentence, c := range map[string]struct {
		rules Rules
		to    string
		asked string
		want  verdict
	}{
		"a public address of an allowed name":                      {r, "203.0.113.66:443", "rb.test", by("rb.test", "rb.test")},
		"a public address of a refused name":                       {r, "203.0.113.66:443", "denied.test", no(ReasonNameNotAllowed)},
		"an allowed name at a port that it isn't allowed at":       {r, "203.0.113.66:22", "rb.test", no(ReasonNameNotAllowed)},
		"an address that is named":                                 {r, "203.0.113.10:443", "203.0.113.10", by("203.0.113.10", "")},
		"an address that isn't":                                    {r, "203.0.113.66:443", "203.0.113.66", no(ReasonAddressNotAllowed)},
		"an allowed name that points to loopback":                  {r, "127.0.0.1:443", "rb.test", no(ReasonPortNotAllowed)},
		"an allowed name that points to an allowed port":           {r, "127.0.0.1:5432", "db.corp", by("localhost:5432", "")},
		"an allowed name that points to mapped loopback":           {r, "[::ffff:127.0.0.1]:80", "rb.test", no(ReasonPortNotAllowed)},
		"an allowed name that points to IPv6 loopback":             {r, "[::1]:80", "rb.test", no(ReasonPortNotAllowed)},
		"an allowed name that points to nowhere":                   {r, "0.0.0.0:80", "rb.test", no(ReasonPortNotAllowed)},
		"an allowed name that points to the machine's LAN address": {r, "192.168.1.5:80", "rb.test", no(ReasonPortNotAllowed)},
		"the machine's public address, at an allowed port":         {r, "203.0.113.200:5432", "db.corp", by("localhost:5432", "")},
		"the machine's public address, at another port":            {r, "203.0.113.200:443", "rb.test", no(ReasonPortNotAllowed)},
		"the machine's address by NAT64":                           {r, "[64:ff9b::cb00:71c8]:443", "rb.test", no(ReasonPortNotAllowed)},
		"the machine's own 6to4 address":                           {r, "[2002:cb00:7101::5]:443", "rb.test", no(ReasonPortNotAllowed)},
		"an allowed name that points to a metadata service":        {r, "169.254.169.254:80", "rb.test", no(ReasonMetadata)},
		"a metadata service that is named":                         {r, "169.254.169.254:80", "169.254.169.254", no(ReasonMetadata)},
		"a metadata service, translated":                           {r, "[::ffff:0:a9fe:a9fe]:80", "rb.test", no(ReasonMetadata)},
		"a metadata service in a network that is named":            {r, "[fd00:ec2::254]:80", "[fd00:ec2::254]", no(ReasonMetadata)},
		"a metadata service's name at an innocent address":         {r, "203.0.113.66:80", "metadata", no(ReasonMetadata)},
		"an allowed name that points to the link":                  {r, "[fe80::1%eth0]:80", "rb.test", no(ReasonLinkLocal)},
		"an allowed name that points to a group":                   {r, "[ff02::1]:80", "rb.test", no(ReasonMulticast)},
		"an allowed name that points to everybody":                 {r, "255.255.255.255:80", "rb.test", no(ReasonBroadcast)},
		"an allowed name that points to the room":                  {r, "198.18.0.1:80", "rb.test", no(ReasonSelf)},
		"an allowed name that points to the proxy":                 {r, "198.18.0.4:80", "rb.test", no(ReasonSelf)},
		"an allowed name that points to the room's machine":        {r, "198.18.0.3:80", "rb.test", no(ReasonPortNotAllowed)},
		"an allowed name that points to a refusal address":         {r, "198.18.1.9:80", "rb.test", no(ReasonReserved)},
		"a private address of an exact name":                       {r, "10.9.9.9:5432", "db.corp", by("db.corp:5432", "db.corp")},
		"a private address of an exact name, at a wildcard's port": {r, "10.9.9.9:443", "db.corp", no(ReasonPrivate)},
		"a private address of a wildcard's name":                   {r, "10.9.9.9:443", "x.corp", no(ReasonPrivate)},
		"a private address of a refused name":                      {r, "10.9.9.9:443", "denied.test", no(ReasonNameNotAllowed)},
		"a private address that is named":                          {r, "192.168.7.5:80", "192.168.7.5", by("192.168.7.5:80", "")},
		"a private address that is named, at another port":         {r, "192.168.7.5:443", "192.168.7.5", no(ReasonAddressNotAllowed)},
		"a private address of a network that is named":             {r, "10.1.2.3:80", "10.1.2.3", by("10.1.0.0/16:80", "")},
		"a private IPv6 address of a network that is named":        {r, "[fd12::1]:80", "[fd12::1]", by("[fd00::/8]:80", "")},
		"a private address of all of IPv4":                         {r, "10.9.9.9:7000", "10.9.9.9", no(ReasonAddressNotAllowed)},
		"a private address by NAT64, of an exact name":             {r, "[64:ff9b::a09:909]:5432", "db.corp", by("db.corp:5432", "db.corp")},
		"a private address by NAT64, of a wildcard's name":         {r, "[64:ff9b::a09:909]:443", "x.corp", no(ReasonPrivate)},
		"open: a public address":                                   {open, "203.0.113.66:22", "203.0.113.66", by(`mode "open"`, "")},
		"open: a public address of a name":                         {open, "203.0.113.66:22", "denied.test", by(`mode "open"`, "denied.test")},
		"open: a name that points to the LAN":                      {open, "10.0.0.1:80", "rb.test", no(ReasonPrivate)},
		"open: a name that points to this machine":                 {open, "127.0.0.1:80", "rb.test", no(ReasonPortNotAllowed)},
		"open: a name that points to a metadata service":           {open, "100.100.100.200:80", "meta1.test", no(ReasonMetadata)},
		"open: a private address of an exact name":                 {open, "10.0.0.1:5432", "db.corp", by("db.corp:5432", "db.corp")},
		"none":           {rules(t, ModeNone, nil), "203.0.113.66:443", "rb.test", no(ReasonNoNetwork)},
		"the zero value": {Rules{}, "203.0.113.66:443", "rb.test", no(ReasonNoNetwork)},
		"port 0":         {open, "203.0.113.66:0", "rb.test", no(ReasonMalformed)},
	} {
		t.Run(sentence, func(t *testing.T) {
			c.want.check(t, c.rules.Address(netip.MustParseAddrPort(c.to), host(t, c.asked), local))
		})
	}
	no(ReasonMalformed).check(t, open.Address(netip.AddrPort{}, host(t, "rb.test"), local))
	no(ReasonMalformed).check(t, open.Address(netip.MustParseAddrPort("203.0.113.66:443"), Host{}, local))
	no(ReasonUnclassified).check(t, open.Address(netip.MustParseAddrPort("203.0.113.66:443"), host(t, "rb.test"), nil))
	no(ReasonMetadata).check(t, open.Address(netip.MustParseAddrPort("169.254.169.254:80"), host(t, "rb.test"), nil))
}

func TestRulesThatContradictThemselvesAreNone(t *testing.T) {
	allowed := []Endpoint{endpoint(t, "allowed.test")}
	for sentence, c := range map[string]struct {
		mode      Mode
		endpoints []Endpoint
		ports     []uint16
	}{
		"mode none with an endpoint": {ModeNone, allowed, nil},
		"mode none with a port":      {ModeNone, nil, []uint16{80}},
		"mode host with an endpoint": {ModeHost, allowed, nil},
		"mode host with a port":      {ModeHost, nil, []uint16{80}},
		"a mode that isn't there":    {Mode(9), nil, nil},
		"port 0":                     {ModeEndpoints, allowed, []uint16{80, 0}},
		"the zero endpoint":          {ModeEndpoints, append(allowed, Endpoint{}), nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			r, err := NewRules(c.mode, c.endpoints, c.ports)
			if err == nil || r != (Rules{}) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestRulesCantBeChanged(t *testing.T) {
	given, ports := []Endpoint{endpoint(t, "allowed.test"), endpoint(t, "allowed.test"), endpoint(t, "*.good.test")}, []uint16{5432}
	r, err := NewRules(ModeEndpoints, given, ports)
	if err != nil {
		t.Fatal(err)
	}
	given[0], ports[0] = endpoint(t, "denied.test"), 22
	r.Endpoints()[0], r.Ports()[0] = endpoint(t, "denied.test"), 22
	if got := r.Endpoints(); len(got) != 2 || got[0].String() != "allowed.test" || got[1].String() != "*.good.test" {
		t.Errorf("endpoints are %v", got)
	}
	if r.Lookup(mustName("denied.test")).Allowed || r.Port(22).Allowed || !r.Port(5432).Allowed {
		t.Error("a change to a list changed the rules")
	}
	if r.Mode() != ModeEndpoints || (Rules{}).Mode() != ModeNone || (Rules{}).Endpoints() != nil || (Rules{}).Ports() != nil {
		t.Error("the zero value has more than nothing")
	}
}

func TestModesHaveNames(t *testing.T) {
	for m := ModeNone; m <= ModeHost; m++ {
		if got, err := ParseMode(m.String()); err != nil || got != m {
			t.Errorf("%s is %s, %v", m, got, err)
		}
	}
	for _, s := range []string{"", "Open", "all", "mode 4", "none "} {
		if m, err := ParseMode(s); err == nil || m != ModeNone {
			t.Errorf("%q is %s, %v", s, m, err)
		}
	}
	if Mode(4).String() != "mode 4" {
		t.Error("a mode that isn't there has a name")
	}
}
