// SPDX-License-Identifier: Apache-2.0

package native

import (
	"math"
	"strings"
)

// NotLoaded is what a call answers where there is no library; LoadError says why.
const NotLoaded = math.MinInt32

// LibraryError is a library that was not found, or is too old.
type LibraryError struct {
	// Tried has a line for each place: its name and why it would not do.
	Tried []string
}

// Error names every place that was tried.
func (e *LibraryError) Error() string {
	return "routecap: library not found: " + strings.Join(e.Tried, "; ")
}
