package sandbox

import (
	"slices"
	"strings"
)

// Variables of the caller's that don't go into a room, each with its reason.
var (
	// They name a proxy that can't be reached from a room, where no program needs one.
	proxyVariables = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"}
	// They are doors to something outside that would make calls, or sign, for the program.
	doorVariables = []string{"DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "GPG_AGENT_INFO"}
)

// Variables that tell the clouds' own libraries not to probe for a metadata service, which in a room is an alarm. One that the
// caller set stays as it is.
var quietVariables = []string{
	"AWS_EC2_METADATA_DISABLED=true", // AWS SDKs and Tools reference, "IMDS credential provider"
	"NO_GCE_CHECK=true",              // google-auth for Python, environment_vars.py
	"METADATA_SERVER_DETECTION=none", // gcp-metadata for Node, README
}

// Environment is what a program in a room gets of the caller's environment.
func Environment(env []string, c Caller) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return staysOut(variable(entry)) })
	out = identity(out, c)
	for _, entry := range quietVariables {
		if !has(out, variable(entry)) {
			out = append(out, entry)
		}
	}
	return out
}

// EnvironmentHost is what a program on the machine's own network gets: all but what is lnk's and sudo's.
func EnvironmentHost(env []string, c Caller) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return isOurs(variable(entry)) })
	return identity(out, c)
}

func staysOut(name string) bool {
	return isOurs(name) || slices.Contains(doorVariables, name) || slices.Contains(proxyVariables, strings.ToUpper(name))
}

func isOurs(name string) bool {
	return strings.HasPrefix(name, "SUDO_") || strings.HasPrefix(name, "LNK_")
}

// identity names the user that the program runs as, where that isn't the one the environment was made for: sudo leaves
// root's, or the caller's, as it is configured.
func identity(env []string, c Caller) []string {
	if !c.Other {
		return env
	}
	for _, v := range [][2]string{{"HOME", c.Home}, {"USER", c.Login}, {"LOGNAME", c.Login}, {"SHELL", c.Shell}, {"MAIL", ""}} {
		env = slices.DeleteFunc(env, func(entry string) bool { return variable(entry) == v[0] })
		if v[1] != "" {
			env = append(env, v[0]+"="+v[1])
		}
	}
	return env
}

func variable(entry string) string {
	name, _, _ := strings.Cut(entry, "=")
	return name
}

func has(env []string, name string) bool {
	return slices.ContainsFunc(env, func(entry string) bool { return variable(entry) == name })
}
