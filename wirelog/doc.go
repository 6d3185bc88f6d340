// Package wirelog is the wire's log, its limits and its reader, and the count of what each proxy carries.
package wirelog
