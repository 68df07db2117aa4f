// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !routecap_dlopen

package native

// LoadError is nil: a program that is linked with the library does not start without it.
func LoadError() error { return nil }
