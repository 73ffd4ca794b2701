//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// What recallGo says in Go, with Memory.Recall, plainKey and Table.Hash: read these
// first. 120 instructions of a packet with INT and 37 of one without, where Go took 250 and 90
// (bench/instructions): what is loaded stays in registers from the first comparison to the
// key, and the flow's bucket is prefetched. Only what every amd64 processor has.
//
// SAFETY: a frame is read up to byte 57, after its length was compared with that. What is
// stored as a pointer points out of the Go heap, so that no write barrier is missed.
//
// SI state, DI burst, CX packet, R8 memory, R11 mbuf and then the packet's length, R12
// frame, R13 its length, R10 memo, R14 nINT.

// func recallRun(q *recallState, b *burst, from int) (next int)
TEXT ·recallRun(SB), NOSPLIT, $0-32
	MOVQ q+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ from+16(FP), CX
	MOVQ recallState_memory(SI), R8
	MOVQ burst_nINT(DI), R14

packet:
	CMPQ CX, burst_n(DI)
	JGE  done
	MOVQ burst_vec(DI), R11
	MOVQ (R11)(CX*8), R11
	MOVWLZX asmMbuf_dataOff(R11), R12
	ADDQ    asmMbuf_bufAddr(R11), R12
	MOVWLZX asmMbuf_dataLen(R11), R13
	LEAQ (CX)(CX*2), BX
	MOVQ R12, burst_frame(DI)(BX*8)
	MOVQ R13, (burst_frame+8)(DI)(BX*8)
	MOVQ R13, (burst_frame+16)(DI)(BX*8)
	CMPL R13, $58
	JCS  done
	MOVL asmMbuf_pktLen(R11), R11
	CMPL R11, $const_maxFrame
	JHI  done

	// EtherType, version and IHL, no fragment.
	MOVL 12(R12), BX // DSCP in the upper bits
	MOVL BX, AX
	ANDL $0xffffff, AX
	CMPL AX, $0x450008
	JNE  done
	MOVWLZX 20(R12), AX
	TESTL $0xff3f, AX
	JNE  done
	MOVBLZX 23(R12), AX
	CMPL AX, $17
	JNE  notUDP
	MOVWLZX 36(R12), DX
	CMPW DX, asmMemory_port(R8)
	JNE  otherPort

	// The same INT headers as in the memo of this length of INT.
	MOVL 42(R12), AX
	MOVL AX, R10
	SHRL $8, R10
	ANDL $const_memoMask, R10
	IMUL3Q $asmMemo__size, R10, R10
	LEAQ asmMemory_memos(R8)(R10*1), R10
	MOVQ $~0xff000000, R15 // all of the MD header's first word but Remaining Hop Count
	ANDQ 46(R12), R15
	CMPQ R15, asmMemo_md(R10)
	JNE  done
	MOVWLZX 54(R12), R15
	SHLQ $16, R15
	MOVWLZX AX, R9
	ORQ  R9, R15
	CMPQ R15, asmMemo_shim(R10)
	JNE  done

	// The original port is not that of INT or of a tunnel.
	SHRL $16, AX
	CMPW AX, asmMemory_port(R8)
	JEQ  done
	CMPW AX, asmMemory_tunnels(R8)
	JEQ  done
	CMPW AX, (asmMemory_tunnels+2)(R8)
	JEQ  done
	CMPW AX, (asmMemory_tunnels+4)(R8)
	JEQ  done

	// Lengths agree, and INT ends within.
	MOVWLZX 16(R12), R9
	ROLW $8, R9
	MOVWLZX 38(R12), R15
	ROLW $8, R15
	ADDL $20, R15
	CMPL R9, R15
	JNE  done
	ADDL $14, R9
	CMPL R9, R11
	JHI  done
	MOVWLZX (asmMemo_info+asmInfo_End)(R10), R15
	CMPL R15, R9
	JHI  done
	CMPL R15, R13
	JHI  done

	// Info is that of the memo, but for four fields.
	IMUL3Q $asmInfo__size, CX, R13
	LEAQ burst_info(DI)(R13*1), R13
	MOVOU (asmMemo_info+0)(R10), X0
	MOVOU (asmMemo_info+16)(R10), X1
	MOVOU (asmMemo_info+asmInfo__size-16)(R10), X2
	MOVOU X0, 0(R13)
	MOVOU X1, 16(R13)
	MOVOU X2, (asmInfo__size-16)(R13)
	MOVL AX, R15
	ROLW $8, R15
	MOVW R15, asmInfo_Orig(R13)
	SUBW (asmMemo_info+asmInfo_Removed)(R10), R9
	MOVW R9, asmInfo_Size(R13)
	SHRL $26, BX
	MOVB BX, asmInfo_DSCP(R13)
	MOVBLZX 49(R12), R15
	MOVB R15, asmInfo_RemainingHops(R13)
	MOVQ R14, BX
	MOVB CX, burst_int(DI)(BX*1)
	INCQ R14

	// The key. R9 addresses, R13 the rest.
	IMUL3Q $asmKey__size, BX, R15
	LEAQ burst_keys(DI)(R15*1), R15
	MOVQ 26(R12), R9
	MOVQ R9, asmKey_addrs(R15)
	MOVWLZX 34(R12), R13
	SHLQ $16, R13
	ORQ  AX, R13
	SHLQ $32, R13
	ORQ  $0x1104, R13 // UDP, version 4
	MOVQ R13, asmKey_rest(R15)

	// Its hash, and the line of its bucket.
	MOVQ (recallState_index+asmIndex_Keys)(SI), AX
	XORQ R9, AX
	XORQ (recallState_index+asmIndex_Keys+8)(SI), R13
	MULQ R13
	XORQ DX, AX
	MULQ (recallState_index+asmIndex_Keys+16)(SI)
	XORQ DX, AX
	MOVQ AX, burst_hashes(DI)(BX*8)
	ANDQ (recallState_index+asmIndex_Mask)(SI), AX
	SHLQ $6, AX
	ADDQ (recallState_index+asmIndex_Buckets)(SI), AX
	PREFETCHT0 (AX)
	INCQ CX
	JMP  packet

otherPort:
	CMPW DX, asmMemory_tunnels(R8)
	JEQ  done
	CMPW DX, (asmMemory_tunnels+2)(R8)
	JEQ  done
	CMPW DX, (asmMemory_tunnels+4)(R8)
	JEQ  done

notINT:
	CMPB asmMemory_settles(R8), $0
	JEQ  done
	INCQ CX
	JMP  packet

notUDP:
	CMPL AX, $6
	JEQ  notINT

done:
	MOVQ R14, burst_nINT(DI)
	MOVQ CX, next+24(FP)
	RET
