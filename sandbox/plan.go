package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"lnk/netns"
	"lnk/policy"
)

// plan is all that the room's init is told.
func (r *run) plan() (netns.Plan, error) {
	covered := r.covered()
	pinned, err := pins(covered)
	if err != nil {
		return netns.Plan{}, err
	}
	hostname, _ := os.Hostname() // one that isn't known stands in no file
	env, files := Environment(r.Env, r.caller), []netns.File(nil)
	if r.authority != nil {
		files, env = trust(r.authority, env)
	}
	return netns.Plan{
		Ports:      r.spec.Rules().Ports(),
		ResolvConf: resolvConf(policy.NameServer.String()),
		Hosts:      hostsFile(hostname),
		Cover:      covered,
		Pin:        pinned,
		Argv:       r.Argv,
		Replace:    files,
		Env:        env,
		Dir:        r.dir,
		User:       r.caller.identity(),
	}, nil
}

// covered are the folders that nothing inside sees: the settings, and the caller's usual settings where LNK_HOME names
// others.
func (r *run) covered() []string {
	dirs := []string{r.home.Dir()}
	if usual := filepath.Join(r.caller.Home, ".lnk"); r.caller.Home != "" && !slices.Contains(dirs, usual) {
		if info, err := os.Stat(usual); err == nil && info.IsDir() {
			dirs = append(dirs, usual)
		}
	}
	return dirs
}
