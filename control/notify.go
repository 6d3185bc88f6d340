package control

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// notifyLimit is how long a notification may take. A bus that starts a notification server first may want longer; the
// log and the lists say the same.
const notifyLimit = time.Second

// errNoBus is returned where the user has no session bus: on most servers.
var errNoBus = errors.New("there is no session bus")

// Notify shows a notification on the desktop of the user called uid (the settings' user, not root under sudo), which
// stays until it is dismissed. It takes a second at most, but that is too long for the goroutine of a call. Without a
// desktop it returns an error and nothing else happens.
func Notify(ctx context.Context, uid int, summary, body string) error {
	ctx, cancel := context.WithTimeout(ctx, notifyLimit)
	defer cancel()
	err := errNoBus
	for _, address := range busAddresses(os.Getenv("DBUS_SESSION_BUS_ADDRESS"), "/run/user", uid) {
		if err = notifyAt(ctx, address, summary, body); err == nil {
			return nil
		}
	}
	return fmt.Errorf("showing a notification: %w", err)
}

// busAddresses are the sockets at which the user's bus may be: those of the environment first, then systemd's. Only
// sockets: an address in the environment may also ask for a program to be started or a port to be called (D-Bus
// specification, "Server Addresses").
func busAddresses(fromEnv, runUser string, uid int) []string {
	var found []string
	for address := range strings.SplitSeq(fromEnv, ";") {
		keys, isUnix := strings.CutPrefix(address, "unix:")
		if !isUnix {
			continue
		}
		for pair := range strings.SplitSeq(keys, ",") {
			key, value, _ := strings.Cut(pair, "=")
			value, err := dbus.UnescapeBusAddressValue(value)
			switch {
			case err != nil || value == "":
			case key == "path":
				found = append(found, value)
			case key == "abstract":
				found = append(found, "@"+value) // as package net writes it
			}
		}
	}
	return append(found, runUser+"/"+strconv.Itoa(uid)+"/bus")
}

// notifyAt notifies through one bus. The socket's deadline bounds every step, the handshake too.
func notifyAt(ctx context.Context, address, summary, body string) error {
	socket, err := new(net.Dialer).DialContext(ctx, "unix", address)
	if err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok {
		if err := socket.SetDeadline(deadline); err != nil {
			return errors.Join(err, socket.Close())
		}
	}
	bus, err := dbus.NewConn(socket, dbus.WithContext(ctx))
	if err != nil {
		return errors.Join(err, socket.Close())
	}
	defer bus.Close()
	if err := bus.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))}); err != nil {
		return err
	}
	if err := bus.Hello(); err != nil {
		return err
	}
	return notifyOn(ctx, bus, summary, body)
}

// notifyOn makes the call of the Desktop Notifications Specification, 1.2. The body is markup there, so it is escaped:
// it may hold a name that a sandbox chose.
func notifyOn(ctx context.Context, bus *dbus.Conn, summary, body string) error {
	const (
		critical = byte(2) // the urgency that stays until it is dismissed
		byServer = int32(-1)
	)
	desktop := bus.Object("org.freedesktop.Notifications", "/org/freedesktop/Notifications")
	return desktop.CallWithContext(ctx, "org.freedesktop.Notifications.Notify", 0,
		"lnk", uint32(0), "dialog-warning", clean(summary), html.EscapeString(cleanLines(body)),
		[]string{}, map[string]dbus.Variant{"urgency": dbus.MakeVariant(critical)}, byServer).Err
}
