// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"bytes"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Version is the library's product version, for example 0.1.0.
func Version() string { return native.Rcap_version_string() }

// ABIVersion is the library's ABI number.
func ABIVersion() int { return int(native.Rcap_abi_version()) }

// BuildInfo says how the library was built and what it uses on this machine.
type BuildInfo struct {
	// ABIVersion as [ABIVersion].
	ABIVersion int
	// Version is the product version.
	Version string
	// Compiler and its version.
	Compiler string
	// SIMD is the instruction set that the row loops use on this machine: scalar, avx2, avx512 or neon.
	SIMD string
	// Features is a blank-separated list such as "thrust=1.17.2 asserts=off".
	Features string
}

// Build tells how the library was built.
func Build() (BuildInfo, error) {
	info := buildInfoLayout{structSize: int64(unsafe.Sizeof(buildInfoLayout{}))}
	failed := wanted()
	status := native.Rcap_build_info_get(unsafe.Pointer(&info), unsafe.Pointer(&failed))
	return BuildInfo{int(info.abiVersion), text(info.version[:]), text(info.compiler[:]), text(info.simd[:]), text(info.features[:])},
		failure(status, &failed)
}

// RowsQuery is what [LayoutRows] is asked.
type RowsQuery struct {
	// Kind says how the ranks' rows stand in the device buffer (R16).
	Kind RowsKind
	// TokensPerRank has the tokens of every data-parallel rank.
	TokensPerRank []int64
	// Rank is this data-parallel rank, 0 .. len(TokensPerRank)-1.
	Rank int64
	// AttentionTP is the attention tensor parallel size, and AttentionTPRank this rank in it; 0 is taken as 1.
	AttentionTP, AttentionTPRank int64
	// PaddedTokensPerRank is the number of rows of each rank's share, read with RowsPadded.
	PaddedTokensPerRank int64
}

// LayoutRows computes the first row and the number of rows of one rank in the device buffer, for the layouts that engines use (R16).
func LayoutRows(query RowsQuery) (firstRow, tokens int64, err error) {
	failed := wanted()
	status := native.Rcap_layout_rows(int32(query.Kind), query.TokensPerRank, query.Rank, max(1, query.AttentionTP), query.AttentionTPRank,
		query.PaddedTokensPerRank, unsafe.Pointer(&firstRow), unsafe.Pointer(&tokens), unsafe.Pointer(&failed))
	return firstRow, tokens, failure(status, &failed)
}

// text is a zero-terminated field of a struct.
func text(field []byte) string {
	before, _, _ := bytes.Cut(field, []byte{0})
	return string(before)
}
