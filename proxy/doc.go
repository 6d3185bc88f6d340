// Package proxy is the wire: it takes the connections that leave a sandbox, judges each call on them by name, carries those
// that are allowed, and refuses the others.
//
// The model. A flow is one accepted connection with what is known of where it goes: its original destination and the
// names that this address was given for. A call is what is judged and logged: the connection itself, or, on a flow
// that speaks HTTP, each request. Every flow takes one path:
//
//	accept → register → original destination → names → gate → judge the connection
//	       → first client bytes, whenever they come → judge what they show
//	       → resolve, classify, dial the literal → outcome line → relay → ended line
//
// A flow is registered before the first check, so a stop can't slip between a check and what follows it. Where
// the connection itself is allowed its upstream is dialled at once, while the first client bytes are awaited: a
// server that speaks first is never made to wait, and the client's first bytes are judged even so.
//
// What a call shows (an SNI, a Host) must be allowed as well as the connection; only a bare literal that isn't allowed goes
// by the name shown, to that name's own address. What was judged is what is dialled: a literal, checked again in the dialer.
//
// The code runs in the machine's network namespace; its listeners were opened in the sandbox's and handed over. It
// holds a listener's loop, one goroutine for each flow and one for the other direction; Wire.Serve waits for all of them.
//
// What it does not do: it looks no name up (Resolver), holds no file (Gate, Log), and never opens an allowed TLS call.
package proxy
