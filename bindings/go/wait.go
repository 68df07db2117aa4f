// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"context"
	"errors"
	"time"
)

// A call that waits in C cannot be interrupted; it waits in slices this long, and looks at the context between them.
const waitSlice = 10 * time.Millisecond

// waitContext repeats a call that waits up to timeout nanoseconds while it answers `again`, until the context is done. The call is made once at least,
// without waiting, so that what is there is found whatever the context says.
func waitContext(ctx context.Context, again Code, call func(timeout int64) error) error {
	err := call(0)
	for errors.Is(err, again) {
		if done := ctx.Err(); done != nil {
			return done
		}
		slice := waitSlice
		if deadline, ok := ctx.Deadline(); ok {
			slice = min(slice, max(0, time.Until(deadline)))
		}
		err = call(int64(slice))
	}
	return err
}
