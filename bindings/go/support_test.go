// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"os"
	"path/filepath"
	"testing"
)

// projectFile is a file of the whole project, which a module that was fetched does not have. Where ROUTECAP_SOURCE names the project, it must be there.
func projectFile(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("ROUTECAP_SOURCE")
	required := root != ""
	if !required {
		root = filepath.Join("..", "..")
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		if required {
			t.Fatal(err)
		}
		t.Skipf("skipped: %s is not here", name)
	}
	return path
}
