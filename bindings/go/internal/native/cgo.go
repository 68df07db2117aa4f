// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !routecap_dlopen

package native

// Where pkg-config does not find routecap.pc, the build stops and names it: install libroutecap-dev, or name the folder that holds the file in
// PKG_CONFIG_PATH (README.md, "Building").

// #cgo pkg-config: routecap
import "C"
