// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// Whatever the bytes: a record that encodes and reads back equal, or an error; and the stream reader agrees with the decoder.
func FuzzDecode(f *testing.F) {
	record := formRecord(f)
	for form := routecap.FormatFrame; form <= routecap.FormatCSV; form++ {
		encoded, err := record.Encode(form, routecap.EncodeOptions{})
		must(f, err)
		f.Add(int32(form), encoded, int32(300), int32(2), int32(2))
	}
	packed, err := record.Encode(routecap.FormatFrame, routecap.EncodeOptions{ZstdLevel: 1})
	must(f, err)
	f.Add(int32(routecap.FormatFrame), packed, int32(0), int32(0), int32(0))
	f.Fuzz(func(t *testing.T, form int32, data []byte, experts, topK, layers int32) {
		_, _ = routecap.Detect(data)
		hints := routecap.DecodeHints{NumExperts: experts, TopK: topK, NumLayers: layers}
		record, err := routecap.Decode(routecap.Format(form), data, hints)
		if form == int32(routecap.FormatFrame) && experts == 0 && topK == 0 && layers == 0 {
			streamed, streamErr := routecap.ReadRecord(bytes.NewReader(data))
			if err == nil && streamErr != nil {
				t.Fatalf("decoded, and not read from a stream: %v", streamErr)
			}
			if streamErr == nil {
				streamed.Close()
			} else if errors.Is(streamErr, io.EOF) != (len(data) == 0) {
				t.Fatalf("end of input after %d bytes: %v", len(data), streamErr)
			}
		}
		if err != nil {
			var failure *routecap.Error
			if !errors.As(err, &failure) || failure.Code >= 0 || failure.Code == routecap.ErrInternal {
				t.Fatal(err)
			}
			return
		}
		defer record.Close()
		frame, err := record.MarshalBinary()
		must(t, err)
		var again routecap.Record
		must(t, again.UnmarshalBinary(frame))
		defer again.Close()
		if report, err := record.Compare(&again); err != nil || report.Equal != 1 {
			t.Fatal(report, err)
		}
		for _, err := range record.Rows() {
			must(t, err)
		}
	})
}
