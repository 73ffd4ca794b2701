//go:build !purego

#include "textflag.h"
#include "go_asm.h"

// What lookup_go.go says in Go: read it first. All eight tags of a bucket are
// compared at once, and lines are prefetched, which no load in Go can do without waiting
// for them: 49 instructions of a packet where Go took 98 (bench/instructions). Only what
// every amd64 processor has.
//
// SAFETY: buckets and flows are as many as mask and the slots of a bucket tell; hashes,
// keys and out are as long as their callers in lookup.go make them. Flows are out of the
// Go heap, so that no write barrier is missed.

// func candidates(t *Table, tick uint32, hashes []uint64, out []*Flow)
TEXT ·candidates(SB), NOSPLIT, $0-64
	MOVQ t+0(FP), SI
	MOVL tick+8(FP), R8
	MOVQ hashes_base+16(FP), R9
	MOVQ hashes_len+24(FP), R10
	MOVQ out_base+40(FP), R11
	MOVQ Table_mask(SI), R12
	MOVQ Table_buckets(SI), R13
	MOVQ Table_flows(SI), DI
	XORL CX, CX

next:
	CMPQ CX, R10
	JGE  done
	MOVQ (R9)(CX*8), AX
	MOVQ AX, BX
	ANDQ R12, BX
	MOVQ BX, DX
	SHLQ $const_bucketShift, DX
	ADDQ R13, DX
	SHRQ $48, AX
	ORL  $1, AX // tagOf
	MOVQ AX, X0
	PSHUFLW  $0, X0, X0
	PUNPCKLQDQ X0, X0
	MOVOU    bucket_tags(DX), X1
	PCMPEQW  X0, X1
	PMOVMSKB X1, AX
	BSFL AX, AX
	JEQ  none
	SHRL $1, AX
	CMPL R8, bucket_seen(DX)(AX*4)
	JNE  seen

seenNow:
	LEAQ (AX)(BX*const_slots), BX
	SHLQ $const_flowShift, BX
	ADDQ DI, BX
	PREFETCHT0 0(BX)
	PREFETCHT0 64(BX)
	MOVQ BX, (R11)(CX*8)
	INCQ CX
	JMP  next

seen: // stored only where it is another, so that few of these lines become dirty
	MOVL R8, bucket_seen(DX)(AX*4)
	JMP  seenNow

none:
	MOVQ $0, (R11)(CX*8)
	INCQ CX
	JMP  next

done:
	RET

// func confirm(now int64, keys []Key, out []*Flow, from int) (next int)
TEXT ·confirm(SB), NOSPLIT, $0-72
	MOVQ now+0(FP), R8
	MOVQ keys_base+8(FP), R9
	MOVQ keys_len+16(FP), R10
	MOVQ out_base+32(FP), R11
	MOVQ from+56(FP), CX
	IMUL3Q $Key__size, CX, AX
	ADDQ AX, R9

key:
	CMPQ CX, R10
	JGE  end
	MOVQ (R11)(CX*8), BX
	TESTQ BX, BX
	JEQ  end
	MOVQ Key_rest(R9), AX
	CMPQ AX, (Flow_Key+Key_rest)(BX)
	JNE  end
	MOVQ (Key_Src+8)(R9), DX
	CMPQ DX, (Flow_Key+Key_Src+8)(BX)
	JNE  end
	MOVQ (Key_Dst+8)(R9), DX
	CMPQ DX, (Flow_Key+Key_Dst+8)(BX)
	JNE  end
	CMPB AX, $4
	JNE  wide

same:
	MOVQ R8, Flow_seen(BX)
	ADDQ $Key__size, R9
	INCQ CX
	JMP  key

wide:
	MOVQ Key_Src(R9), DX
	CMPQ DX, (Flow_Key+Key_Src)(BX)
	JNE  end
	MOVQ Key_Dst(R9), DX
	CMPQ DX, (Flow_Key+Key_Dst)(BX)
	JEQ  same

end:
	MOVQ CX, next+64(FP)
	RET
