//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// What matchHeadersGo says in Go, with HeaderCache.Lookup, udpv4Key and Table.Hash: read these
// first. 66 instructions of a packet with INT and 23 of one without, where Go takes 184 and
// 81 (bench/instructions): headers are compared 16 bytes at once, ports all at once, what is
// loaded stays in registers up to the key, and where the flow will be looked for is
// prefetched. AVX2.
//
// SAFETY: a frame is read up to byte 57, after its length was compared with that. What is
// stored as a pointer points into the memory of the worker's locator, which the worker
// holds: no write barrier is missed.
//
// SI state, DI burst, CX packet, R8 memory, R11 mbuf, R12 frame, R13 its length, R10 what
// the template is behind, R14 nINT, BX the next key.

// func matchHeadersAVX2(q *matchState, b *burst, from int) (next int)
TEXT ·matchHeadersAVX2(SB), NOSPLIT, $0-32
	MOVQ q+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ from+16(FP), CX
	MOVQ matchState_cache(SI), R8
	MOVQ burst_nINT(DI), R14
	IMUL3Q $asmKey__size, R14, BX
	LEAQ burst_keys(DI)(BX*1), BX
	MOVQ burst_vec(DI), R15
	VMOVDQU udpv4Mask<>(SB), X8
	VMOVDQU udpv4Bytes<>(SB), X9
	VMOVDQU intMask<>(SB), X10
	VPBROADCASTQ asmHeaderCache_port(R8), X11 // port and tunnels
	VMOVDQU notUDP<>(SB), X12
	CMPQ CX, burst_n(DI)
	JGE  done

packet:
	MOVQ (R15)(CX*8), R11
	MOVWLZX asmMbuf_dataOff(R11), R12
	ADDQ    asmMbuf_bufAddr(R11), R12
	MOVWLZX asmMbuf_dataLen(R11), R13
	CMPL R13, $58
	JCS  done
	CMPL R13, asmMbuf_pktLen(R11)
	JNE  chained

whole: // R13 bytes of the packet are in its first segment
	MOVWLZX 36(R12), DX
	CMPW DX, asmHeaderCache_port(R8)
	JNE  headers

	// IPv4 without options and fragments, UDP, the same INT headers as in the template of
	// this length of INT, and an original port that is not that of INT or of a tunnel.
	MOVBLZX 43(R12), R10
	ANDL $const_templateMask, R10
	SHLL $const_templateShift, R10
	ADDQ R8, R10
	VPAND 12(R12), X8, X0
	VPAND 42(R12), X10, X1
	VPBROADCASTW 44(R12), X2
	VPXOR X9, X0, X0
	VPXOR asmHeaderCache_templates(R10), X1, X1
	VPCMPEQW X11, X2, X2
	VPOR X0, X1, X1
	VPOR X2, X1, X1
	VPTEST X1, X1
	JNE  other

	// Lengths agree, and INT ends within.
	MOVWLZX 16(R12), R9
	ROLW $8, R9
	MOVWLZX 38(R12), AX
	ROLW $8, AX
	ADDL $20, AX
	CMPL R9, AX
	JNE  done
	ADDL $14, R9
	CMPL R13, R9
	JCS  done
	MOVWLZX (asmHeaderCache_templates+asmTemplate_info+asmInfo_End)(R10), AX
	CMPL R9, AX
	JCS  done

	LEAQ (asmHeaderCache_templates+asmTemplate_info)(R10), R10
	MOVQ R10, burst_header(DI)(R14*8)
	MOVB CX, burst_places(DI)(R14*1)

	// The key. R9 addresses, R13 the rest.
	MOVQ 26(R12), R9
	MOVQ R9, asmKey_addrs(BX)
	MOVWLZX 34(R12), R13
	MOVWLZX 44(R12), AX
	SHLQ $16, R13
	ORQ  AX, R13
	SHLQ $32, R13
	ORQ  $0x1104, R13 // UDP, version 4
	MOVQ R13, asmKey_portsProto(BX)
	ADDQ $asmKey__size, BX

	// Its hash, and where it is looked for first.
	MOVQ (matchState_index+asmIndex_Keys)(SI), AX
	XORQ R9, AX
	XORQ (matchState_index+asmIndex_Keys+8)(SI), R13
	MULQ R13
	XORQ DX, AX
	MULQ (matchState_index+asmIndex_Keys+16)(SI)
	XORQ DX, AX
	MOVQ AX, burst_hashes(DI)(R14*8)
	ANDQ (matchState_index+asmIndex_Mask)(SI), AX
	ADDQ (matchState_index+asmIndex_Base)(SI), AX
	PREFETCHT0 (AX)
	INCQ R14
	INCQ CX
	CMPQ CX, burst_n(DI)
	JLT  packet

done:
	MOVQ R14, burst_nINT(DI)
	MOVQ CX, next+24(FP)
	RET

chained: // more than R13 bytes of the packet, if there are as many as the mbuf says
	MOVL asmMbuf_pktLen(R11), R11
	CMPL R11, $const_maxFrame
	JHI  done
	CMPL R11, R13
	CMOVLCS R11, R13
	JMP  whole

headers: // of a packet that is not to the port of INT
	VPAND 12(R12), X8, X0
	VPBROADCASTW 36(R12), X2
	VPXOR X9, X0, X0
	VPCMPEQW X11, X2, X2
	VPOR X0, X2, X2
	VPTEST X2, X2
	JNE  other

notINT:
	CMPB asmHeaderCache_portsOnly(R8), $0
	JEQ  done
	INCQ CX
	CMPQ CX, burst_n(DI)
	JLT  packet
	JMP  done

other: // TCP is not INT, whatever its ports; X0 is what its headers are besides those of UDP
	VPXOR  X12, X0, X0
	VPTEST X0, X0
	JEQ  notINT
	JMP  done

// What counts of bytes 12 to 27, and what it is in a packet with UDP: EtherType, version
// and IHL, More Fragments and Fragment Offset, Protocol.
DATA udpv4Mask<>+0(SB)/8, $0x0000000000ffffff
DATA udpv4Mask<>+8(SB)/8, $0x00000000ff00ff3f
GLOBL udpv4Mask<>(SB), RODATA|NOPTR, $16
DATA udpv4Bytes<>+0(SB)/8, $0x0000000000450008
DATA udpv4Bytes<>+8(SB)/8, $0x0000000011000000
GLOBL udpv4Bytes<>(SB), RODATA|NOPTR, $16

// What is another in a packet with TCP.
DATA notUDP<>+0(SB)/8, $0
DATA notUDP<>+8(SB)/8, $0x0000000017000000
GLOBL notUDP<>(SB), RODATA|NOPTR, $16

// same0 and same1 of package inthdr.
DATA intMask<>+0(SB)/8, $0x00ffffff0000ffff
DATA intMask<>+8(SB)/8, $0x0000ffffffffffff
GLOBL intMask<>(SB), RODATA|NOPTR, $16
