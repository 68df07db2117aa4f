// SPDX-License-Identifier: Apache-2.0

//go:build !race

package main

// The race detector's own memory grows with what it has seen.
const raceEnabled = false
