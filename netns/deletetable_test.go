package netns

import "github.com/google/nftables"

// deleteTable tries to switch the rules off, as `nft flush ruleset` does.
func deleteTable() error {
	c, err := nftables.New()
	if err != nil {
		return err
	}
	c.FlushRuleset()
	return c.Flush()
}
