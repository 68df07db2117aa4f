// SPDX-License-Identifier: Apache-2.0

//go:build !cgo || routecap_dlopen

package native

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
)

const (
	headerBytes   = 64
	header32Bytes = 52
	segmentBytes  = 56
)

// refusal is why the dynamic linker must not see a file: it maps what the headers name and touches it, which beyond the end of a file that was cut short
// is a SIGBUS. Empty where nothing speaks against it. A file that cannot be opened is left to the dynamic linker, which says so.
func refusal(path string) string {
	status, err := os.Stat(path)
	if err != nil {
		return ""
	}
	// Asked before it is opened: a FIFO would wait for somebody to write into it.
	if !status.Mode().IsRegular() {
		return "is not a file"
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	return refusalOf(file, uint64(status.Size()))
}

func refusalOf(file io.ReaderAt, size uint64) string {
	start := make([]byte, headerBytes)
	has, err := file.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return fmt.Sprintf("cannot read it: %v", err)
	}
	class, order := elf.Class(start[elf.EI_CLASS]), elf.Data(start[elf.EI_DATA])
	switch {
	case has < header32Bytes, string(start[:4]) != elf.ELFMAG, class != elf.ELFCLASS32 && class != elf.ELFCLASS64,
		order != elf.ELFDATA2LSB && order != elf.ELFDATA2MSB, class == elf.ELFCLASS64 && has < headerBytes:
		return fmt.Sprintf("is no shared object: no ELF header in its %d bytes", size)
	}
	if why := foreign(start, class, order); why != "" {
		return why
	}
	var header elf.Header64
	if err := binary.Read(bytes.NewReader(start), binary.NativeEndian, &header); err != nil {
		return fmt.Sprintf("cannot read it: %v", err)
	}
	if elf.Type(header.Type) != elf.ET_DYN {
		return fmt.Sprintf("is no shared object: ELF type %d, one has %d", header.Type, uint16(elf.ET_DYN))
	}
	if header.Phentsize != segmentBytes || header.Phnum == 0 {
		return fmt.Sprintf("is not a whole shared object: %d program headers of %d bytes", header.Phnum, header.Phentsize)
	}
	table := uint64(header.Phnum) * segmentBytes
	if why := lacks("the program headers", header.Phoff, table, size); why != "" {
		return why
	}
	if header.Shoff != 0 {
		if why := lacks("the section headers", header.Shoff, uint64(header.Shnum)*uint64(header.Shentsize), size); why != "" {
			return why
		}
	}
	segments := make([]elf.Prog64, header.Phnum)
	if err := binary.Read(io.NewSectionReader(file, int64(header.Phoff), int64(table)), binary.NativeEndian, segments); err != nil {
		return "is not a whole shared object: its program headers cannot be read"
	}
	loads := false
	for _, segment := range segments {
		kind := elf.ProgType(segment.Type)
		if kind != elf.PT_LOAD && kind != elf.PT_DYNAMIC {
			continue
		}
		if why := lacks("a segment", segment.Off, segment.Filesz, size); why != "" {
			return why
		}
		loads = loads || kind == elf.PT_LOAD
	}
	if !loads {
		return "is not a whole shared object: no segment to load"
	}
	return ""
}

// foreign says that a file is for another machine. One that this does not know is left to the dynamic linker.
func foreign(start []byte, class elf.Class, order elf.Data) string {
	own, ownOrder := elf.EM_NONE, elf.ELFDATA2LSB
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		ownOrder = elf.ELFDATA2MSB
	}
	switch runtime.GOARCH {
	case "amd64":
		own = elf.EM_X86_64
	case "arm64":
		own = elf.EM_AARCH64
	}
	machine := elf.Machine(binary.LittleEndian.Uint16(start[18:]))
	if order == elf.ELFDATA2MSB {
		machine = elf.Machine(binary.BigEndian.Uint16(start[18:]))
	}
	if class == elf.ELFCLASS64 && order == ownOrder && (own == elf.EM_NONE || machine == own) {
		return ""
	}
	bits := map[elf.Class]int{elf.ELFCLASS32: 32, elf.ELFCLASS64: 64}[class]
	return fmt.Sprintf("is for another architecture: ELF machine %d (%d bit, %s-endian), this process is %d (64 bit, %s-endian)", uint16(machine), bits,
		endian(order), uint16(own), endian(ownOrder))
}

func endian(order elf.Data) string {
	if order == elf.ELFDATA2LSB {
		return "little"
	}
	return "big"
}

// lacks says that a part of a file reaches beyond its end.
func lacks(part string, offset, count, size uint64) string {
	if offset <= size && count <= size-offset {
		return ""
	}
	return fmt.Sprintf("is not a whole shared object: %s of %d bytes at %d, the file has %d", part, count, offset, size)
}
