// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"time"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Config is the geometry of a capturer, in the engine's own numbers. Where a field is 0, its default holds.
type Config struct {
	// NumExperts is E: logical routed experts of a layer. It decides the dtype of stored ids: uint8 up to 256, uint16 up to 65536, else int32 (R28).
	NumExperts int32
	// TopK is K: experts chosen per token and layer, shared experts not counted.
	TopK int32
	// LayerIDs are the captured layers' numbers in the model, ascending.
	LayerIDs []int32
	// Backend where rows are captured; nil is the host.
	Backend *Backend
	// NumFusedSharedExperts are columns behind the first K that a kernel with fused shared experts adds; they are dropped (R23).
	NumFusedSharedExperts int32
	// WeightsDType keeps routing weights beside the ids: DTypeFloat16, DTypeBFloat16 or DTypeFloat32. DTypeNone keeps none.
	WeightsDType DType
	// WeightsKind is a label that travels with the records (R29).
	WeightsKind WeightsKind
	// CheckLevel says how closely rows are checked before they are stored.
	CheckLevel CheckLevel
	// FinalizeMode says who finalizes outputs: the caller, or a thread of the capturer's own.
	FinalizeMode FinalizeMode
	// BusyPolicy is what EndForward does when every staging block is in flight (R32).
	BusyPolicy BusyPolicy
	// BusyTimeout is the longest wait of BusyWait.
	BusyTimeout time.Duration
	// Tags keeps a caller's 64-bit tag with every row and compares it at the read.
	Tags bool
	// PipelineDepth is the number of staging blocks: forwards that may be unsettled at once, 1 .. 4096; 2 by default.
	PipelineDepth int32
	// ChunkedPrefillSize is the tokens of the largest prefill chunk of one rank. Exactly one of this and MaxForwardTokens is given.
	ChunkedPrefillSize int64
	// MaxForwardTokens is the tokens of the largest forward of one rank where prefill is not chunked.
	MaxForwardTokens int64
	// MaxRunningRequests is the number of requests of one rank that may decode at once; 1 by default.
	MaxRunningRequests int64
	// NumVerifyTokens is the tokens that a verify forward has per request (drafts + 1); 0 without speculative decoding.
	NumVerifyTokens int64
	// MaxGraphTokens is the rows of the largest graph batch of one rank, padding included; 0 without graphs.
	MaxGraphTokens int64
	// DPSize is the number of data-parallel ranks that write into one device buffer; 1 by default.
	DPSize int64
	// AttentionTPSize: rows are rounded up to a multiple of it; 1 by default.
	AttentionTPSize int64
	// NumSlots is the number of KV slots of this rank; 0 captures and stages and does not store.
	NumSlots int64
	// PageSize is the slots of one KV page; 1 by default.
	PageSize int64
	// ReservedSlots are the first slots, the engine's padding or null block: rows for them are discarded by contract (R15).
	ReservedSlots int64
}

// layout is the configuration as C takes it. What C has a default for keeps it unless the field is given.
func (config *Config) layout() capturerConfigLayout {
	var layout capturerConfigLayout
	native.Rcap_capturer_config_init(unsafe.Pointer(&layout), int64(unsafe.Sizeof(layout)))
	layout.numExperts = config.NumExperts
	layout.topK = config.TopK
	layout.numFusedSharedExperts = config.NumFusedSharedExperts
	layout.weightsDType = config.WeightsDType
	layout.weightsKind = config.WeightsKind
	layout.checkLevel = config.CheckLevel
	layout.finalizeMode = config.FinalizeMode
	layout.busyPolicy = config.BusyPolicy
	if config.Tags {
		layout.tags = 1
	}
	orDefault(&layout.pipelineDepth, config.PipelineDepth)
	layout.chunkedPrefillSize = config.ChunkedPrefillSize
	layout.maxForwardTokens = config.MaxForwardTokens
	orDefault(&layout.maxRunningRequests, config.MaxRunningRequests)
	layout.numVerifyTokens = config.NumVerifyTokens
	layout.maxGraphTokens = config.MaxGraphTokens
	orDefault(&layout.dpSize, config.DPSize)
	orDefault(&layout.attnTPSize, config.AttentionTPSize)
	layout.numSlots = config.NumSlots
	orDefault(&layout.pageSize, config.PageSize)
	layout.reservedSlots = config.ReservedSlots
	layout.busyTimeoutNanoseconds = int64(config.BusyTimeout)
	return layout
}

func orDefault[T int32 | int64](field *T, given T) {
	if given != 0 {
		*field = given
	}
}

// Plan computes what [NewCapturer] would need, without allocating anything.
func (config Config) Plan() (Plan, error) {
	layout := config.layout()
	plan := Plan{structSize: int64(unsafe.Sizeof(Plan{}))}
	failed := wanted()
	status := native.Rcap_capturer_plan_get(unsafe.Pointer(&layout), config.LayerIDs, unsafe.Pointer(&plan), unsafe.Pointer(&failed))
	return plan, failure(status, &failed)
}
