package policy

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/idna"
)

// acePrefix starts an A-label (RFC 5890, section 2.3.2.1).
const acePrefix = "xn--"

// lookupProfile is how a browser looks a name up (UTS #46, not transitional), less the checks that names in use fail: underscores (_dmarc)
// and hyphens in the third and fourth place (r3---sn-x) stand. Case, width and compatibility forms are mapped, so that
// full-width digits and the ideographic full stop are digits and a dot. What may stand in a name is checked after it.
var lookupProfile = idna.New(
	idna.MapForLookup(),
	idna.BidiRule(),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
	idna.Transitional(false),
)

// toASCII maps a host that isn't ASCII and turns its U-labels into A-labels.
func toASCII(s string) (string, error) {
	a, err := lookupProfile.ToASCII(s)
	if err != nil {
		return "", errors.New("not a valid internationalised name")
	}
	return strings.ToLower(a), nil
}

// checkEncoded refuses A-labels that don't decode to what encodes to them again: two spellings of one name, or of no name.
func checkEncoded(s string) error {
	a, err := lookupProfile.ToASCII(s)
	if err != nil || a != s {
		return fmt.Errorf("%s holds no valid name", acePrefix)
	}
	return nil
}
